"""AsyncClient: a running service, asked from an asyncio program."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from labelserve.arguments import PredictArguments, UploadArguments
from labelserve.client import routes
from labelserve.client.batches import TextBatch, batches
from labelserve.client.comparisons import compared, ranked
from labelserve.client.connection import Connection, no_reply, pieces, reply_of
from labelserve.client.evaluations import (
    EvaluationFilter,
    ServedEvaluation,
    awaited,
    listed,
    reported,
    submitted,
)
from labelserve.client.exchange import (
    Exchange,
    FileDigest,
    Finished,
    Outcome,
    Pause,
    Result,
    Step,
    next_step,
)
from labelserve.documents import LabelSets
from labelserve.predictions import TextPrediction
from labelserve.report import EvaluationReport


class AsyncClient:
    """As `Client`, with methods to be awaited; `stream` takes asynchronous generators, too."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        **options: Any,
    ) -> None:
        self._connection = Connection(url, key, timeout, retries)
        self._http = httpx.AsyncClient(**self._connection.options(options))

    async def predict(
        self,
        texts: Iterable[str] | AsyncIterable[str],
        *,
        model: str | None = None,
        **asked: Unpack[PredictArguments],
    ) -> list[TextPrediction]:
        """One prediction a text, in order; without `model`, by the service's default model.

        Asked as `LabelModel.predict` is: by `top_k`, `operating_point`, `explain` and so on.
        """
        return [found async for found in self.stream(texts, model=model, **asked)]

    def stream(
        self,
        texts: Iterable[str] | AsyncIterable[str],
        *,
        model: str | None = None,
        **asked: Unpack[PredictArguments],
    ) -> AsyncIterator[TextPrediction]:
        """The same, batch after batch while the texts are read: memory does not grow with them."""
        return self._stream(_batches(texts), routes.predict_query(model, asked))

    async def evaluate(
        self,
        data: routes.Uploaded,
        labels: LabelSets | None = None,
        **arguments: Unpack[UploadArguments],
    ) -> EvaluationReport:
        """The report on a labelled file, which is sent as it is, or on texts and their labels.

        The file is a path, or its bytes; what `labelserve.read` gave is taken, too.
        """
        retries = self._connection.retries
        return await self._run(routes.evaluated(data, labels, arguments, retries))

    async def submit(
        self,
        data: routes.Uploaded,
        labels: LabelSets | None = None,
        *,
        models: Sequence[str] = (),
        keep: bool = True,
        **arguments: Unpack[UploadArguments],
    ) -> list[ServedEvaluation]:
        """Hand in an evaluation for each model, and do not wait; a file is sent once, ever."""
        asked = {**arguments, "models": ",".join(models) or None, "keep": keep}
        return await self._run(submitted(data, labels, asked, self._connection.retries))

    async def wait(self, evaluation: ServedEvaluation | str) -> ServedEvaluation:
        """The evaluation once it is done; a ServiceError where it failed or was cancelled."""
        return await self._run(awaited(evaluation, self._connection.retries))

    async def report(self, evaluation: ServedEvaluation | str) -> EvaluationReport:
        """The report of an evaluation that is done, with its page."""
        return await self._run(reported(evaluation, self._connection.retries))

    async def evaluations(
        self, *, limit: int = 100, **wanted: Unpack[EvaluationFilter]
    ) -> list[ServedEvaluation]:
        """Evaluations that the key may see, the newest first; by `model`, `data`, `state`."""
        return await self._run(listed(wanted, limit, self._connection.retries))

    async def compare(self, a: ServedEvaluation | str, b: ServedEvaluation | str) -> dict[str, Any]:
        """Two evaluations of the same data: tests, labels won and lost, documents that differ."""
        return await self._run(compared(a, b, self._connection.retries))

    async def leaderboard(
        self, data: ServedEvaluation | str, figure: str = "micro.f1"
    ) -> dict[str, Any]:
        """All evaluations of the same data, the best first; by one of them, or by its SHA-256."""
        return await self._run(ranked(data, figure, self._connection.retries))

    async def models(self) -> list[routes.ServedModel]:
        """What is loaded, and what is not and why."""
        return await self._run(routes.listed(self._connection.retries))

    async def health(self) -> routes.ServiceHealth:
        """Whether the service can answer; no error where it cannot."""
        return await self._run(routes.asked_for_health())

    async def close(self) -> None:
        """Close its connections; as a context manager, it does so at the end."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<asynchronous client of {self._http.base_url}>"

    async def _stream(
        self, texts: AsyncIterator[TextBatch], query: tuple[tuple[str, str], ...]
    ) -> AsyncIterator[TextPrediction]:
        async for batch in texts:
            exchange = routes.predicted(batch, query, self._connection.retries)
            for found in await self._run(exchange):
                yield found

    async def _run(self, exchange: Exchange[Result]) -> Result:
        step = next_step(exchange)
        while not isinstance(step, Finished):
            step = next_step(exchange, await self._taken(step))
        return step.result

    async def _taken(self, step: Step) -> Outcome:
        """What comes of one step."""
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, FileDigest):
            return await asyncio.to_thread(step.result)
        content, request = step.content, self._connection.request(step)
        body = pieces(content) if isinstance(content, Path) else content
        try:
            return reply_of(await self._http.request(content=body, **request))
        except httpx.TransportError as error:
            return no_reply(error)


async def _batches(
    texts: Iterable[str] | AsyncIterable[str],
) -> AsyncIterator[TextBatch]:
    """The texts in batches, as soon as each is full."""
    if not isinstance(texts, AsyncIterable):
        for batch in batches(texts):
            yield batch
        return
    batch = TextBatch()
    async for text in texts:
        if batch.add(text).is_full:
            yield batch
            batch = batch.next()
    if batch.lines:
        yield batch
