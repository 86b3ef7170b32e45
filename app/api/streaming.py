"""NDJSON in, NDJSON out: a document a line, answered in batches while the body still arrives."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
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
from app.api.predictor import QUICK_BYTES, Predictor, is_long
from app.api.schemas import Document, StreamParameters
from app.errors import AppError, InvalidRequestError, PayloadTooLargeError, QuotaExceededError
from app.prediction.answers import Prediction
from app.serving.admission import BodyBudget, Deadline
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service
from app.settings import Settings

NDJSON = b"application/x-ndjson"
LINE = re.compile(rb"\S[^\n]*")
BATCH = 64
WAIT_SECONDS = 0.02


class StreamLine(msgspec.Struct):
    """One line that could not be answered, by its number."""

    line: int
    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A request whose lines are being answered: who asks what of which model, and how long."""

    context: RequestContext
    caller: Identity
    loaded: Loaded
    parameters: StreamParameters
    deadline: Deadline


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
        loaded.plan(parameters.query())
        await take_documents(identity, 0, context, self._service)
        deadline = Deadline.after(self._service.settings.evaluate_seconds)
        stream = StreamRequest(context, identity, loaded, parameters, deadline)
        with self._service.body_budget() as budget:
            receive = with_minimum_rate(receive, self._service.settings.request_seconds)
            headers = [(b"content-type", NDJSON), (b"x-model-version", context.version.encode())]
            body = await self._read_first(receive, context, deadline, budget)
            if body is not None:
                receive = _again(body)
                count = await self._predictor.run(len(body) > QUICK_BYTES, _count, body)
                headers.append((b"x-documents", b"%d" % count))
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with ResponseBuffer(send, deadline) as buffer:
                async for batch in _batches(receive, self._service.settings, deadline):
                    await buffer.put(await self._answers(batch, stream))
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

    async def _answers(
        self, batch: list[tuple[int, bytes | AppError]], stream: StreamRequest
    ) -> bytes:
        size = sum(len(line) for _, line in batch if isinstance(line, bytes))
        read = await self._predictor.run(size > QUICK_BYTES, self._read_all, batch)
        documents = [document for document in read if not isinstance(document, AppError)]
        found: list[Prediction] = []
        try:
            found = await self._predicted(documents, stream)
            stream.context.documents += len(documents)
        except (InvalidRequestError, QuotaExceededError) as error:  # together they are too much
            read = [document if isinstance(document, AppError) else error for document in read]
        each = iter(found)
        answers = [
            _failed(number, document, stream.context)
            if isinstance(document, AppError)
            else next(each)
            for (number, _), document in zip(batch, read, strict=True)
        ]
        is_large = is_long(found, stream.parameters.query())
        written: bytes = await self._predictor.run(is_large, self._written, answers)
        return written

    def _written(self, answers: list[Prediction | StreamLine]) -> bytes:
        return b"".join(self._encode(answer) + b"\n" for answer in answers)

    def _read_all(self, batch: list[tuple[int, bytes | AppError]]) -> list[Any]:
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
        self, documents: Sequence[str | Document], stream: StreamRequest
    ) -> list[Prediction]:
        if not documents:
            return []
        await take_documents(stream.caller, len(documents), stream.context, self._service)
        while not self._service.documents.has_room(len(documents)):
            # The answer has begun, so it cannot be refused any more: it waits for its turn.
            stream.deadline.check()
            await asyncio.sleep(WAIT_SECONDS)
        texts = [d if isinstance(d, str) else d.text for d in documents]
        predicted = await self._predictor.predictions(
            stream.loaded, stream.parameters.query(), texts, stream.deadline, has_begun=True
        )
        for document, prediction in zip(documents, predicted.predictions, strict=True):
            prediction.id = None if isinstance(document, str) else document.id
        return predicted.predictions


def _again(body: bytes) -> Receive:
    async def message() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return message


def _count(body: bytes) -> int:
    """How many lines are not empty."""
    return sum(1 for _ in LINE.finditer(body))


async def _batches(
    receive: Receive, settings: Settings, deadline: Deadline
) -> AsyncIterator[list[tuple[int, bytes | AppError]]]:
    """Numbered lines, as many as have arrived, at most a batch; empty lines are left out."""
    batch: list[tuple[int, bytes | AppError]] = []
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
    rest, number, more, is_too_long = b"", 0, True, False
    while more:
        message = await next_message(receive, deadline)
        more = message.get("more_body", False)
        *whole, rest = (rest + message["body"]).split(b"\n")
        if not more:
            whole, rest = [*whole, rest], b""
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
            rest = b""
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
