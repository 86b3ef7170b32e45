"""Predictor: predictions for a route, with limits, admission, and threads for long work."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, NamedTuple

from app.api.http.request_context import RequestContext
from app.errors import PayloadTooLargeError
from app.prediction.answers import Prediction
from app.prediction.plan import Plan
from app.prediction.query import Query
from app.serving.admission import Deadline
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service
from app.serving.telemetry.counters import Counter, Histogram

QUICK_BYTES, QUICK_DOCUMENTS, QUICK_LABELS = 16_384, 4, 500
"""Up to here the answer costs less than handing it to a thread would."""

MOST_ANSWERS = 1_000_000
"""Labels of all documents of a request together: an answer is made and sent as a whole."""


class Predicted(NamedTuple):
    """One prediction a text, and how long they took."""

    plan: Plan
    predictions: list[Prediction]
    seconds: float


class Predictor:
    """Predictions for one route; `route` is its name in telemetry."""

    def __init__(self, service: Service, route: str) -> None:
        self._service, self._route = service, route
        self._quick_texts = min(QUICK_DOCUMENTS, service.settings.max_documents)
        self._quick_characters = min(QUICK_BYTES, service.settings.max_text_characters)
        self._seconds = service.telemetry.stages.labels("predict")
        self._has_room = service.documents.has_room
        self._counters: dict[str, tuple[Counter, Histogram]] = {}

    def model(self, reference: str | None, identity: Identity, context: RequestContext) -> Loaded:
        """The model that was named, or the default one, if the caller may use it."""
        if reference is not None:
            identity.require_model(reference.partition("@")[0])
        loaded = self._service.registry.get(reference, identity.may_use)
        identity.require_model(loaded.model.name)
        context.model, context.version = loaded.model.name, loaded.model.version
        return loaded

    def refuse_early(self, context: RequestContext) -> None:
        """Refuse, before it is read, a body that cannot be admitted; short ones are let in.

        What they ask for mostly costs less than their refusal would save.
        """
        said = context.header(b"content-length")
        if not said.isdigit() or int(said[:20]) > QUICK_BYTES:
            self._service.documents.refuse_if_full()

    def check(self, texts: Sequence[str]) -> None:
        """Refuse too many documents, and texts that are too long."""
        settings = self._service.settings
        if len(texts) > settings.max_documents:
            raise PayloadTooLargeError("the request", settings.max_documents, "documents")
        longest = settings.max_text_characters
        if max(map(len, texts), default=0) > longest:
            raise PayloadTooLargeError("a text", longest, "characters")

    async def predictions(
        self,
        loaded: Loaded,
        query: Query,
        texts: Sequence[str],
        deadline: Deadline,
        *,
        has_begun: bool = False,
    ) -> Predicted:
        """One prediction a text; short work here, long work in a thread that looks at the clock.

        What is part of an answer that has begun is not refused where others would be.
        """
        self.check(texts)
        predicted = self.at_once(loaded, query, texts)
        if predicted is None:
            if not has_begun:
                self._service.documents.refuse_if_full()  # others came while the body was read
            with self._service.documents.admit(len(texts)):
                predicted = await self._in(
                    self._service.threads, _planned, loaded, query, texts, deadline
                )
        self.count(loaded, predicted)
        return predicted

    def at_once(self, loaded: Loaded, query: Query, texts: Sequence[str]) -> Predicted | None:
        """One prediction a text, where that takes no longer than to hand it to a thread.

        Whoever answers with it is to `count` it.
        """
        plan = loaded.known_plan(query) if loaded.is_quick and not query.explain else None
        if plan is None or len(texts) > self._quick_texts:
            return None
        is_short = sum(map(len, texts)) <= self._quick_characters
        return _predicted(plan, texts) if is_short and self._has_room(len(texts)) else None

    async def in_thread(self, work: Any, *arguments: Any) -> Any:
        """What the work gives, done in a thread that has only short work: it waits for nothing."""
        return await self._in(self._service.short_threads, work, *arguments)

    async def _in(self, threads: ThreadPoolExecutor, work: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)

    async def run(self, is_large: bool, work: Any, *arguments: Any) -> Any:
        """What the work gives: large work in a thread, so that it holds nobody up."""
        return await self.in_thread(work, *arguments) if is_large else work(*arguments)

    def count(self, loaded: Loaded, predicted: Predicted) -> None:
        """Count the documents and the labels of an answer."""
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
        documents.inc(len(predicted.predictions))
        for prediction in predicted.predictions:
            labels.observe(len(prediction.labels))


def _planned(loaded: Loaded, query: Query, texts: Sequence[str], deadline: Deadline) -> Predicted:
    return _predicted(loaded.plan(query), texts, deadline.check)


def _predicted(
    plan: Plan, texts: Sequence[str], still_wanted: Callable[[], None] | None = None
) -> Predicted:
    start = perf_counter()
    predictions = plan.predictions(texts, still_wanted=still_wanted, most=MOST_ANSWERS)
    return Predicted(plan, predictions, perf_counter() - start)


def is_long(predictions: Sequence[Prediction], query: Query) -> bool:
    """Whether writing the predictions as JSON takes long enough to be worth a thread."""
    n_labels = 0
    for prediction in predictions:
        n_labels += len(prediction.labels)
    return n_labels * (query.explain or 1) > QUICK_LABELS
