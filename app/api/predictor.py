"""Predictor: predictions for a route, with limits, admission, and threads for long work."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from starlette.types import Receive

from app.api.http.bodies import ClientLeftError, client_gone
from app.api.http.request_context import RequestContext
from app.errors import DeadlineError, InvalidRequestError, PayloadTooLargeError
from app.prediction.answers import Prediction
from app.prediction.plan import Plan
from app.prediction.query import Query
from app.serving.admission import Deadline
from app.serving.identity import ANYONE, Identity
from app.serving.live.canary import is_answered_by
from app.serving.registry import Loaded
from app.serving.service import Service
from app.serving.telemetry.counters import Counter, Histogram

QUICK_BYTES, QUICK_DOCUMENTS, QUICK_LABELS = 16_384, 4, 500
"""Up to here the answer costs less than handing it to a thread would."""

MOST_ANSWERS = 1_000_000
"""Labels of all documents of a request together: an answer is made and sent as a whole."""


class Predicted(NamedTuple):
    """One prediction a text, how many labels each has, and how long they took."""

    plan: Plan
    predictions: list[Prediction]
    label_counts: list[int]
    seconds: float


class Asked(NamedTuple):
    """What is asked about texts, of which model, and until when it is wanted."""

    loaded: Loaded
    query: Query
    deadline: Deadline
    receive: Receive | None = None
    """What tells that the client has left, once the body was read; None: who asks looks himself."""


Written = TypeVar("Written")


class Predictor:
    """Predictions for one route; `route` is its name in telemetry."""

    def __init__(self, service: Service, route: str) -> None:
        self._service, self._route = service, route
        self._quick_texts = min(QUICK_DOCUMENTS, service.settings.max_documents)
        self._quick_characters = min(QUICK_BYTES, service.settings.max_text_characters)
        self._seconds = service.telemetry.stages.labels("predict")
        self._has_room = service.documents.has_room
        self._counters: dict[str, tuple[Counter, Histogram]] = {}
        self._trials, self._sample = service.registry.trials, service.live.sample

    def model(self, reference: str | None, identity: Identity, context: RequestContext) -> Loaded:
        """The model that was named, or the default one, if the caller may use it."""
        if reference is not None:
            identity.require_model(reference.partition("@")[0])
        loaded = self._service.registry.get(reference, identity.may_use)
        identity.require_model(loaded.model.name)
        if self._trials.canaries and reference in (None, loaded.model.name):
            loaded = self._on_side(loaded, identity, context)
        context.model, context.version = loaded.model.name, loaded.model.version
        return loaded

    def _on_side(self, loaded: Loaded, identity: Identity, context: RequestContext) -> Loaded:
        """The canary, where one runs and this caller is among those that it answers."""
        name = loaded.model.name
        canary = self._trials.canaries.get(name)
        if canary is None:
            return loaded
        trial, caller = canary.trial, b""
        if trial.by is not None:
            caller = context.header(trial.by.encode())
        if not caller:
            caller = (context.head.address if identity is ANYONE else identity.name).encode()
        is_canary = is_answered_by(trial, name, caller)
        context.side = (trial.version, "canary" if is_canary else "current")
        return canary.loaded if is_canary else loaded

    def refuse_early(self, context: RequestContext) -> None:
        """Refuse, before it is read, a body that cannot be admitted; short ones are let in.

        What they ask for mostly costs less than their refusal would save.
        """
        said = context.header(b"content-length")
        if not said.isdigit() or int(said[:20]) > QUICK_BYTES:
            self._service.documents.refuse_if_full()
            self._service.unsent.refuse_if_full()

    def check(self, texts: Sequence[str]) -> None:
        """Refuse too many documents, and texts that are too long."""
        settings = self._service.settings
        if len(texts) > settings.max_documents:
            raise PayloadTooLargeError("the request", settings.max_documents, "documents")
        longest = settings.max_text_characters
        if max(map(len, texts), default=0) > longest:
            raise PayloadTooLargeError("a text", longest, "characters")

    async def answer(
        self,
        asked: Asked,
        texts: Sequence[str],
        write: Callable[[Predicted], Written],
        *,
        has_begun: bool = False,
    ) -> Written:
        """What `write` makes of one prediction a text; it is told how many labels there are.

        Short work is done here, long work in a thread that looks at the clock. It writes, too: so
        no more predictions are kept than there are threads. What is part of an answer that has
        begun is not refused where others would be.
        """
        self.check(texts)
        predicted = self.at_once(asked.loaded, asked.query, texts)
        if predicted is not None:
            written = write(predicted)
        else:
            if not has_begun:
                self._service.documents.refuse_if_full()  # others came while the body was read
            with self._service.documents.admit(len(texts)), _while_client_waits(asked):
                predicted, written = await self._in(
                    self._service.threads, _predicted_and_written, asked, texts, write
                )
        self.count(asked.loaded, asked.query, texts, predicted)
        return written

    def at_once(self, loaded: Loaded, query: Query, texts: Sequence[str]) -> Predicted | None:
        """One prediction a text, where that takes no longer than to hand it to a thread.

        Whoever answers with it is to `count` it.
        """
        plan = loaded.known_plan(query) if loaded.is_quick and not query.explain else None
        if plan is None or len(texts) > self._quick_texts or (plan.top_k or 0) > QUICK_LABELS:
            return None
        if sum(map(len, texts)) > self._quick_characters or not self._has_room(len(texts)):
            return None
        try:
            return _predicted(plan, texts, most=min(QUICK_LABELS, MOST_ANSWERS))
        except InvalidRequestError:  # more labels than that: a thread makes them
            return None

    async def resolve(self, loaded: Loaded, query: Query) -> None:
        """Resolve a query before its first document is there; an error where that is impossible."""
        if loaded.known_plan(query) is None:
            await self._in(self._service.threads, loaded.plan, query)

    async def in_thread(self, work: Any, *arguments: Any) -> Any:
        """What the work gives, done in a thread that has only short work: it waits for nothing."""
        return await self._in(self._service.short_threads, work, *arguments)

    async def _in(self, threads: ThreadPoolExecutor, work: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)

    async def run(self, is_large: bool, work: Any, *arguments: Any) -> Any:
        """What the work gives: large work in a thread, so that it holds nobody up."""
        return await self.in_thread(work, *arguments) if is_large else work(*arguments)

    def count(
        self, loaded: Loaded, query: Query, texts: Sequence[str], predicted: Predicted
    ) -> None:
        """Count the documents and the labels of an answer; a sample is looked at again later."""
        self._seconds.observe(predicted.seconds)
        model = loaded.model.name
        counters = self._counters.get(model)
        if counters is None:
            telemetry = self._service.telemetry
            counters = self._counters[model] = (
                telemetry.documents.labels(model, self._route),
                telemetry.labels_per_document.labels(model),
            )
        documents, labels = counters
        documents.inc(len(predicted.label_counts))
        for count in predicted.label_counts:
            labels.observe(count)
        if self._sample.is_wanted:
            self._sample.offer(loaded, query, texts)


@contextmanager
def _while_client_waits(asked: Asked) -> Iterator[None]:
    """The work in the block ends at its next chunk once the client has left: ClientLeftError."""
    if asked.receive is None:
        yield
        return
    gone = asyncio.ensure_future(client_gone(asked.receive))
    gone.add_done_callback(lambda _: asked.deadline.end())
    try:
        yield
    except DeadlineError:
        if gone.done():
            raise ClientLeftError from None
        raise
    finally:
        gone.cancel()
        if gone.done() and not gone.cancelled():
            gone.exception()  # looked at, so that it is not reported


def _predicted_and_written(
    asked: Asked, texts: Sequence[str], write: Callable[[Predicted], Written]
) -> tuple[Predicted, Written]:
    plan = asked.loaded.plan(asked.query)
    predicted = _predicted(plan, texts, asked.deadline.check, most=MOST_ANSWERS)
    return predicted, write(predicted)


def _predicted(
    plan: Plan,
    texts: Sequence[str],
    still_wanted: Callable[[], None] | None = None,
    *,
    most: int,
) -> Predicted:
    start = perf_counter()
    predictions = plan.predictions(texts, still_wanted=still_wanted, most=most)
    counts = [len(prediction.labels) for prediction in predictions]
    return Predicted(plan, predictions, counts, perf_counter() - start)
