"""Streams: bodies of many documents, answered in batches while they still arrive."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from starlette.types import Message, Receive, Scope, Send

from app.api.http.bodies import next_message, read_body, with_minimum_rate
from app.api.http.request_context import RequestContext, context_of
from app.api.http.response_buffer import ResponseBuffer
from app.api.identity import take_documents
from app.api.predictor import QUICK_BYTES, Asked, Predictor
from app.api.streams.base import Exchange, Item
from app.errors import AppError, InvalidRequestError, QuotaExceededError
from app.prediction.answers import Prediction
from app.serving.admission import BodyBudget, Deadline
from app.serving.identity import Identity
from app.serving.service import Service
from app.serving.unsent_answers import Pieces, cut, joined

BATCH = 64
MANY_LABELS = 1000
"""Looked through by a thread."""
WAIT_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A request that is being answered: who asks what, of which model, and in which form."""

    context: RequestContext
    caller: Identity
    asked: Asked
    exchange: Exchange


class Stream:
    """Answers a body of documents; a bad one gets an error in its place, the others labels."""

    def __init__(self, service: Service, predictor: Predictor) -> None:
        self._service, self._predictor = service, predictor

    async def answer(
        self, scope: Scope, receive: Receive, send: Send, identity: Identity, exchange: Exchange
    ) -> None:
        """Read, predict and send at the same time."""
        context, query = context_of(scope), exchange.parameters.query()
        loaded = self._predictor.model(exchange.parameters.model, identity, context)
        self._service.unsent.refuse_if_full()
        await self._predictor.resolve(loaded, query)
        await self._predictor.run(
            len(loaded.model.classifier.labels) > MANY_LABELS, exchange.prepare, loaded
        )
        await take_documents(identity, 0, context, self._service)
        deadline = Deadline.after(self._service.settings.evaluate_seconds)
        stream = StreamRequest(context, identity, Asked(loaded, query, deadline), exchange)
        with self._service.body_budget() as budget:
            receive = with_minimum_rate(receive, self._service.settings.request_seconds)
            headers = [
                (b"content-type", exchange.content_type),
                (b"x-model-version", context.version.encode()),
            ]
            body = await self._read_first(receive, context, deadline, budget)
            if body is not None:
                receive = _again(body)
                count = await self._predictor.run(len(body) > QUICK_BYTES, exchange.count, body)
                headers.append((b"x-documents", b"%d" % count))
            batches = self._batches(receive, stream)
            first = await self._first(batches, exchange)
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with ResponseBuffer(send, deadline, self._service.unsent) as buffer:
                await buffer.put(exchange.opening())
                async for batch in _chained(first, batches):
                    for piece in await self._answers(batch, stream):
                        await buffer.put(piece)
                await buffer.close()

    async def _first(
        self, batches: AsyncIterator[list[Item]], exchange: Exchange
    ) -> list[list[Item]]:
        """The first documents, where the answer begins only with them; they may be refused."""
        if not exchange.waits_for_documents:
            return []
        first: list[Item] = await anext(batches, [])
        exchange.refuse(first)
        return [first]

    async def _batches(self, receive: Receive, stream: StreamRequest) -> AsyncIterator[list[Item]]:
        """Documents, as many as have arrived, at most a batch."""
        most = min(BATCH, self._service.settings.max_documents)  # it is predicted as a request is
        more = True
        while more:
            message = await next_message(receive, stream.asked.deadline)
            more, piece = message.get("more_body", False), message["body"]
            items = await self._predictor.run(
                len(piece) > QUICK_BYTES, partial(stream.exchange.feed, piece, is_last=not more)
            )
            for start in range(0, len(items), most):
                yield items[start : start + most]

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

    async def _answers(self, batch: list[Item], stream: StreamRequest) -> Pieces:
        told = [stream.exchange.text(item) for item in batch]
        texts = [text for text in told if isinstance(text, str)]
        try:
            pieces = await self._predicted(batch, told, texts, stream)
            stream.context.documents += len(texts)
        except (InvalidRequestError, QuotaExceededError) as error:  # together they are too much
            failed = [text if isinstance(text, AppError) else error for text in told]
            pieces = joined(_written(batch, failed, stream))
        return pieces

    async def _predicted(
        self, batch: list[Item], told: list[str | AppError], texts: list[str], stream: StreamRequest
    ) -> Pieces:
        def write(found: list[Prediction]) -> Pieces:
            each = iter(found)
            outcomes = (text if isinstance(text, AppError) else next(each) for text in told)
            return joined(_written(batch, outcomes, stream))

        if not texts:
            return write([])
        await take_documents(stream.caller, len(texts), stream.context, self._service)
        while self._service.unsent.is_full or not self._service.documents.has_room(len(texts)):
            # The answer has begun, so it cannot be refused any more: it waits for its turn.
            stream.asked.deadline.check()
            await asyncio.sleep(WAIT_SECONDS)
        return await self._predictor.answer(
            stream.asked, texts, lambda predicted: write(predicted.predictions), has_begun=True
        )


def _written(
    batch: list[Item], outcomes: Iterable[Prediction | AppError], stream: StreamRequest
) -> Iterator[bytes]:
    """What the answer says of each document of the batch, in parts."""
    for item, outcome in zip(batch, outcomes, strict=True):
        yield from stream.exchange.written(item, outcome, stream.context)


async def _chained(
    first: list[list[Item]], batches: AsyncIterator[list[Item]]
) -> AsyncIterator[list[Item]]:
    for batch in first:
        yield batch
    async for batch in batches:
        yield batch


def _again(body: bytes) -> Receive:
    """The body once more, in pieces; others have their turn between them."""
    pieces = cut(body) or deque([b""])

    async def message() -> Message:
        await asyncio.sleep(0)
        piece = pieces.popleft()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    return message
