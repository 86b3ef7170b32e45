"""NDJSON in, NDJSON out: a document a line, answered in batches while the body still arrives."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Receive, Scope, Send

from app.api.errors import invalid_body, problem_of
from app.api.http.bodies import next_message, read_body, with_minimum_rate
from app.api.http.request_context import RequestContext, context_of
from app.api.http.response_buffer import ResponseBuffer
from app.api.identity import take_documents
from app.api.prediction_json import written
from app.api.predictor import QUICK_BYTES, Asked, Predictor
from app.api.schemas import Document, StreamParameters
from app.errors import AppError, InvalidRequestError, PayloadTooLargeError, QuotaExceededError
from app.prediction.answers import Prediction
from app.serving.admission import BodyBudget, Deadline
from app.serving.identity import Identity
from app.serving.service import Service
from app.serving.unsent_answers import Pieces, cut, joined
from app.settings import Settings

NDJSON = b"application/x-ndjson"
LINE = re.compile(rb"\S[^\n]*")
BATCH = 64
WAIT_SECONDS = 0.02

Batch = list[tuple[int, bytes | AppError]]
"""Numbered lines; an error in place of one that could not be taken."""


class StreamLine(msgspec.Struct):
    """One line that could not be answered, by its number."""

    line: int
    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A request whose lines are being answered: who asks, and what of which model."""

    context: RequestContext
    caller: Identity
    asked: Asked


class Stream:
    """Answers a body of lines; a bad line gets an error in its place, the others their labels."""

    def __init__(self, service: Service, predictor: Predictor) -> None:
        self._service, self._predictor = service, predictor
        self._decode = msgspec.json.Decoder(str | Document).decode
        self._encode = msgspec.json.Encoder().encode

    async def answer(self, scope: Scope, receive: Receive, send: Send, identity: Identity) -> None:
        """Read, predict and send at the same time."""
        context, parameters = context_of(scope), _parameters(scope)
        loaded = self._predictor.model(parameters.model, identity, context)
        self._service.unsent.refuse_if_full()
        await self._predictor.resolve(loaded, parameters.query())
        await take_documents(identity, 0, context, self._service)
        deadline = Deadline.after(self._service.settings.evaluate_seconds)
        stream = StreamRequest(context, identity, Asked(loaded, parameters.query(), deadline))
        with self._service.body_budget() as budget:
            receive = with_minimum_rate(receive, self._service.settings.request_seconds)
            headers = [(b"content-type", NDJSON), (b"x-model-version", context.version.encode())]
            body = await self._read_first(receive, context, deadline, budget)
            if body is not None:
                receive = _again(body)
                count = await self._predictor.run(len(body) > QUICK_BYTES, _count, body)
                headers.append((b"x-documents", b"%d" % count))
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with ResponseBuffer(send, deadline, self._service.unsent) as buffer:
                async for batch in _batches(receive, self._service.settings, deadline):
                    for piece in await self._answers(batch, stream):
                        await buffer.put(piece)
                await buffer.close()

    async def _read_first(
        self, receive: Receive, context: RequestContext, deadline: Deadline, budget: BodyBudget
    ) -> bytes | None:
        """A body of known, moderate length, read before the answer begins; None for others.

        Many gateways (nginx) stop passing a body on once they have seen the answer's head.
        """
        said, limit = context.header(b"content-length"), self._service.settings.max_body_bytes
        if not said.isdigit() or int(said[:20]) > limit:
            budget.take(limit)  # the longest line
            return None
        return await read_body(receive, context, limit, deadline, budget)

    async def _answers(self, batch: Batch, stream: StreamRequest) -> Pieces:
        size = sum(len(line) for _, line in batch if isinstance(line, bytes))
        read = await self._predictor.run(size > QUICK_BYTES, self._read_all, batch)
        documents = [document for document in read if not isinstance(document, AppError)]
        context = stream.context
        try:
            pieces = await self._predicted(
                documents, stream, lambda found: joined(self._written(batch, read, found, context))
            )
            context.documents += len(documents)
        except (InvalidRequestError, QuotaExceededError) as error:  # together they are too much
            read = [document if isinstance(document, AppError) else error for document in read]
            pieces = joined(self._written(batch, read, [], context))
        return pieces

    def _written(
        self, batch: Batch, read: list[Any], found: list[Prediction], context: RequestContext
    ) -> Iterator[bytes]:
        """A line of the answer for each line of the batch, in parts."""
        each = iter(found)
        for (number, _), document in zip(batch, read, strict=True):
            if isinstance(document, AppError):
                yield self._encode(_failed(number, document, context))
            else:
                prediction = next(each)
                prediction.id = None if isinstance(document, str) else document.id
                yield from written(prediction)
            yield b"\n"

    def _read_all(self, batch: Batch) -> list[Any]:
        return [self._read(line) for _, line in batch]

    def _read(self, line: bytes | AppError) -> str | Document | AppError:
        if isinstance(line, AppError):
            return line
        try:
            document: str | Document = self._decode(line)
            self._predictor.check([document if isinstance(document, str) else document.text])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return invalid_body(error)
        except AppError as error:
            return error
        return document

    async def _predicted(
        self,
        documents: Sequence[str | Document],
        stream: StreamRequest,
        write: Callable[[list[Prediction]], Pieces],
    ) -> Pieces:
        if not documents:
            return write([])
        await take_documents(stream.caller, len(documents), stream.context, self._service)
        while self._service.unsent.is_full or not self._service.documents.has_room(len(documents)):
            # The answer has begun, so it cannot be refused any more: it waits for its turn.
            stream.asked.deadline.check()
            await asyncio.sleep(WAIT_SECONDS)
        texts = [d if isinstance(d, str) else d.text for d in documents]
        return await self._predictor.answer(
            stream.asked, texts, lambda predicted: write(predicted.predictions), has_begun=True
        )


def _again(body: bytes) -> Receive:
    """The body once more, in pieces; others have their turn between them."""
    pieces = cut(body) or deque([b""])

    async def message() -> Message:
        await asyncio.sleep(0)
        piece = pieces.popleft()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    return message


def _count(body: bytes) -> int:
    """How many lines are not empty."""
    return sum(1 for _ in LINE.finditer(body))


async def _batches(
    receive: Receive, settings: Settings, deadline: Deadline
) -> AsyncIterator[Batch]:
    """Numbered lines, as many as have arrived, at most a batch; empty lines are left out."""
    batch: Batch = []
    most = min(BATCH, settings.max_documents)  # a batch is predicted as a request is
    async for number, line in _lines(receive, settings.max_body_bytes, deadline):
        if line is not None:
            batch.append((number, line))
        if batch and (line is None or len(batch) == most):
            yield batch
            batch = []
    if batch:
        yield batch


async def _lines(
    receive: Receive, longest: int, deadline: Deadline
) -> AsyncIterator[tuple[int, bytes | AppError | None]]:
    """Numbered lines; (0, None) when all that has arrived was handed out."""
    rest, number, more, is_too_long = bytearray(), 0, True, False
    while more:
        message = await next_message(receive, deadline)
        more = message.get("more_body", False)
        whole = message["body"].split(b"\n")
        if more:
            last = whole.pop()
        if whole:
            whole[0] = bytes(rest) + whole[0]
            rest = bytearray()
        if more:
            rest += last
        for line in whole:
            number += 1
            if is_too_long:
                is_too_long = False
            elif line.strip():
                yield number, line
        if len(rest) > longest and not is_too_long:
            yield number + 1, PayloadTooLargeError("the line", longest, "bytes")
            is_too_long = True
        if is_too_long:
            rest.clear()
        yield 0, None


def _parameters(scope: Scope) -> StreamParameters:
    try:
        query = scope["query_string"].decode("latin-1")
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise InvalidRequestError("the query has more than 1000 fields") from None
    values: dict[str, Any] = dict(pairs)
    if "labels" in values:
        values["labels"] = [value for name, value in pairs if name == "labels"]
    try:
        return msgspec.convert(values, StreamParameters, strict=False)
    except msgspec.ValidationError as error:
        raise invalid_body(error) from None


def _failed(number: int, error: AppError, context: RequestContext) -> StreamLine:
    found = problem_of(error, context.request_id)
    return StreamLine(number, {"type": found.type, "status": found.status, "detail": found.detail})
