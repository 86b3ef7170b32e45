"""NDJSON in, NDJSON out: a document a line; a line that cannot be answered is an error."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.types import Scope

from app.api.errors import invalid_body, problem_of
from app.api.http.request_context import RequestContext
from app.api.prediction_json import written
from app.api.predictor import Predictor
from app.api.schemas import Document, StreamParameters
from app.api.streams.base import sent_parameters
from app.errors import AppError, PayloadTooLargeError
from app.prediction.answers import Prediction
from app.serving.registry import Loaded
from app.settings import Settings

NDJSON = b"application/x-ndjson"
LINE = re.compile(rb"\S[^\n]*")

NumberedDocument = tuple[int, str | Document | AppError]

_decode = msgspec.json.Decoder(str | Document).decode
_encode = msgspec.json.Encoder().encode


class StreamLine(msgspec.Struct):
    """One line that could not be answered, by its number."""

    line: int
    error: dict[str, Any]


class NdjsonExchange:
    """A text or a document a line; empty lines are left out."""

    content_type, waits_for_documents = NDJSON, False

    def __init__(self, scope: Scope, predictor: Predictor, settings: Settings) -> None:
        self.parameters = sent_parameters(scope, StreamParameters)
        self._predictor, self._longest = predictor, settings.max_body_bytes
        self._rest, self._number, self._is_too_long = bytearray(), 0, False

    def prepare(self, loaded: Loaded) -> None:
        """Every model can be asked."""

    def count(self, body: bytes) -> int:
        """How many lines are not empty."""
        return sum(1 for _ in LINE.finditer(body))

    def feed(self, piece: bytes, *, is_last: bool) -> list[NumberedDocument]:
        """The documents of the lines that are complete with this piece."""
        return [(number, self._read(line)) for number, line in self._lines(piece, is_last)]

    def refuse(self, first: list[NumberedDocument]) -> None:
        """Errors stand in their places."""

    def text(self, item: NumberedDocument) -> str | AppError:
        """The text of a document, or its error."""
        return item[1].text if isinstance(item[1], Document) else item[1]

    def opening(self) -> bytes:
        """Nothing stands before the first line."""
        return b""

    def written(
        self, item: NumberedDocument, outcome: Prediction | AppError, context: RequestContext
    ) -> Iterator[bytes]:
        """One line."""
        number, document = item
        if isinstance(outcome, AppError):
            yield _encode(_failed(number, outcome, context))
        else:
            outcome.id = document.id if isinstance(document, Document) else None
            yield from written(outcome)
        yield b"\n"

    def _lines(self, piece: bytes, is_last: bool) -> Iterator[tuple[int, bytes | AppError]]:
        """Numbered lines; an error in place of one that is too long."""
        whole = piece.split(b"\n")
        last = b"" if is_last else whole.pop()
        if whole:
            whole[0] = bytes(self._rest) + whole[0]
            self._rest = bytearray()
        self._rest += last
        for line in whole:
            self._number += 1
            if self._is_too_long:
                self._is_too_long = False
            elif line.strip():
                yield self._number, line
        if len(self._rest) > self._longest and not self._is_too_long:
            yield self._number + 1, PayloadTooLargeError("the line", self._longest, "bytes")
            self._is_too_long = True
        if self._is_too_long:
            self._rest.clear()

    def _read(self, line: bytes | AppError) -> str | Document | AppError:
        if isinstance(line, AppError):
            return line
        try:
            document: str | Document = _decode(line)
            self._predictor.check([document if isinstance(document, str) else document.text])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return invalid_body(error)
        except AppError as error:
            return error
        return document


def _failed(number: int, error: AppError, context: RequestContext) -> StreamLine:
    found = problem_of(error, context.request_id)
    return StreamLine(number, {"type": found.type, "status": found.status, "detail": found.detail})
