"""Client: a running service, asked from a program that waits for the answers."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from labelserve.arguments import PredictArguments, UploadArguments
from labelserve.client import routes
from labelserve.client.batches import TextBatch, batches
from labelserve.client.comparisons import compared, ranked
from labelserve.client.connection import Connection, no_reply, reply_of
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


class Client:
    """A service at an address such as `https://example.org/labels`, and a key if it wants one.

    `timeout` is in seconds, for a connection and for an answer. Further options are those of
    httpx.Client, such as `verify`. Threads may share it.
    """

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
        self._http = httpx.Client(**self._connection.options(options))

    def predict(
        self, texts: Iterable[str], *, model: str | None = None, **asked: Unpack[PredictArguments]
    ) -> list[TextPrediction]:
        """One prediction a text, in order; without `model`, by the service's default model.

        Asked as `LabelModel.predict` is: by `top_k`, `operating_point`, `explain` and so on.
        """
        return list(self.stream(texts, model=model, **asked))

    def stream(
        self, texts: Iterable[str], *, model: str | None = None, **asked: Unpack[PredictArguments]
    ) -> Iterator[TextPrediction]:
        """The same, batch after batch while the texts are read: memory does not grow with them."""
        query = routes.predict_query(model, asked)
        return self._stream(batches(texts), query)

    def evaluate(
        self,
        data: routes.Uploaded,
        labels: LabelSets | None = None,
        **arguments: Unpack[UploadArguments],
    ) -> EvaluationReport:
        """The report on a labelled file, which is sent as it is, or on texts and their labels.

        The file is a path, or its bytes; what `labelserve.read` gave is taken, too.
        """
        return self._run(routes.evaluated(data, labels, arguments, self._connection.retries))

    def submit(
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
        return self._run(submitted(data, labels, asked, self._connection.retries))

    def wait(self, evaluation: ServedEvaluation | str) -> ServedEvaluation:
        """The evaluation once it is done; a ServiceError where it failed or was cancelled."""
        return self._run(awaited(evaluation, self._connection.retries))

    def report(self, evaluation: ServedEvaluation | str) -> EvaluationReport:
        """The report of an evaluation that is done, with its page."""
        return self._run(reported(evaluation, self._connection.retries))

    def evaluations(
        self, *, limit: int = 100, **wanted: Unpack[EvaluationFilter]
    ) -> list[ServedEvaluation]:
        """Evaluations that the key may see, the newest first; by `model`, `data`, `state`."""
        return self._run(listed(wanted, limit, self._connection.retries))

    def compare(self, a: ServedEvaluation | str, b: ServedEvaluation | str) -> dict[str, Any]:
        """Two evaluations of the same data: tests, labels won and lost, documents that differ."""
        return self._run(compared(a, b, self._connection.retries))

    def leaderboard(self, data: ServedEvaluation | str, figure: str = "micro.f1") -> dict[str, Any]:
        """All evaluations of the same data, the best first; by one of them, or by its SHA-256."""
        return self._run(ranked(data, figure, self._connection.retries))

    def models(self) -> list[routes.ServedModel]:
        """What is loaded, and what is not and why."""
        return self._run(routes.listed(self._connection.retries))

    def health(self) -> routes.ServiceHealth:
        """Whether the service can answer; no error where it cannot."""
        return self._run(routes.asked_for_health())

    def close(self) -> None:
        """Close its connections; as a context manager, it does so at the end."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<client of {self._http.base_url}>"

    def _stream(
        self, texts: Iterator[TextBatch], query: tuple[tuple[str, str], ...]
    ) -> Iterator[TextPrediction]:
        for batch in texts:
            yield from self._run(routes.predicted(batch, query, self._connection.retries))

    def _run(self, exchange: Exchange[Result]) -> Result:
        step = next_step(exchange)
        while not isinstance(step, Finished):
            step = next_step(exchange, self._taken(step))
        return step.result

    def _taken(self, step: Step) -> Outcome:
        """What comes of one step."""
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, FileDigest):
            return step.result()
        content, request = step.content, self._connection.request(step)
        with content.open("rb") if isinstance(content, Path) else nullcontext(content) as body:
            try:
                return reply_of(self._http.request(content=body, **request))
            except httpx.TransportError as error:
                return no_reply(error)
