"""What is asked of a model, resolved once into a Plan; a Plan turns scores into answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores
from app.classifier import Classifier
from app.errors import InvalidRequestError

CHUNK = 64
"""Documents scored between two looks at the clock: work that is too late ends soon."""

Row = NDArray[np.float32]
Probabilities = Callable[[Scores], Scores]


class Term(msgspec.Struct, omit_defaults=True):
    """A term that raised or lowered a label, with its places in the text (code points)."""

    term: str
    weight: float
    at: list[tuple[int, int]]


class Label(msgspec.Struct, omit_defaults=True):
    """One label of one document."""

    label: str
    score: float
    probability: float | None = None
    threshold: float | None = None
    because: list[Term] | None = None
    bias: float | None = None
    rest: float | None = None


class Prediction(msgspec.Struct, omit_defaults=True):
    """The labels of one document by falling score; `id` only where one was sent."""

    labels: list[Label]
    id: str | None = None
    abstained: list[str] | None = None


class Query(NamedTuple):
    """What a client asks for, as it was sent; hashable, so that its Plan can be kept."""

    top_k: int | None = None
    operating_point: str | None = None
    threshold: float | None = None
    min_probability: float | None = None
    labels: tuple[str, ...] | None = None
    explain: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A Query resolved against one classifier: which labels may come, and what cuts them off."""

    classifier: Classifier
    query: Query
    cuts: Row | None
    """(labels,): +inf for labels that may not come; None for ranking alone."""
    candidates: NDArray[np.intp] | None
    top_k: int | None
    point: dict[str, Any] | None
    """The operating point's name and what was expected there on held-out data."""

    def predictions(
        self, texts: Sequence[str], *, still_wanted: Callable[[], None] | None = None
    ) -> list[Prediction]:
        """One prediction a text; `still_wanted` is called between chunks and may raise."""
        found: list[Prediction] = []
        for start in range(0, len(texts), CHUNK):
            if still_wanted is not None:
                still_wanted()
            chunk = texts[start : start + CHUNK]
            found += self.of_scores(self.classifier.scores(chunk))
        return found

    def of_scores(self, scores: Scores) -> list[Prediction]:
        """One prediction a row of scores."""
        probabilities = self._probabilities(scores)
        rows = probabilities if probabilities is not None else [None] * len(scores)
        return [self._prediction(row, likely) for row, likely in zip(scores, rows, strict=True)]

    def _probabilities(self, scores: Scores) -> Scores | None:
        calibration = getattr(self.classifier, "calibration", None)
        return None if calibration is None else calibration.probabilities(scores)

    def _prediction(self, scores: Row, likely: Row | None) -> Prediction:
        judged = likely if self.query.min_probability is not None else scores
        picked = self._picked(scores, judged if judged is not None else scores)
        names = self.classifier.labels.names
        cuts = [None] * len(picked) if self.cuts is None else self.cuts[picked].tolist()
        odds = [None] * len(picked) if likely is None else likely[picked].tolist()
        columns = zip(picked.tolist(), scores[picked].tolist(), odds, cuts, strict=True)
        return Prediction(
            [
                Label(names[column], short(score), _short(probability), _short(cut))
                for column, score, probability, cut in columns
            ]
        )

    def _picked(self, scores: Row, judged: Row) -> NDArray[np.intp]:
        """The columns that come, by falling score, ties by rising number."""
        if self.cuts is not None:
            passing = np.flatnonzero(judged > self.cuts)
            ordered = passing[np.argsort(-scores[passing], kind="stable")]
            return ordered if self.top_k is None else ordered[: self.top_k]
        assert self.top_k is not None  # noqa: S101
        if self.candidates is None:
            return best_columns(scores, self.top_k)
        return self.candidates[best_columns(scores[self.candidates], self.top_k)]


def best_columns(scores: Row, k: int) -> NDArray[np.intp]:
    """The k best columns by falling score, ties by rising column; unscored ones never.

    >>> best_columns(np.array([0.5, 2.0, -np.inf, 2.0], np.float32), 3).tolist()
    [1, 3, 0]
    """
    if k < len(scores):
        limit = np.partition(scores, len(scores) - k)[len(scores) - k]
        passing = np.flatnonzero((scores >= limit) & (scores > -np.inf))
    else:
        passing = np.flatnonzero(scores > -np.inf)
    return passing[np.argsort(-scores[passing], kind="stable")][:k]


def plan_of(query: Query, classifier: Classifier) -> Plan:
    """The Plan of a Query; what the model cannot answer is an InvalidRequestError."""
    if classifier.is_ready_made:
        raise InvalidRequestError("this model reads ready-made features, not texts")
    asked = [query.operating_point, query.threshold, query.min_probability]
    if sum(value is not None for value in asked) > 1:
        raise InvalidRequestError("at most one of operating_point, threshold, min_probability")
    candidates = _candidates(query.labels, classifier)
    if query.top_k is not None and not any(value is not None for value in asked):
        return Plan(classifier, query, None, candidates, query.top_k, None)
    cuts, k, point = _cuts(query, classifier)
    if cuts is not None and candidates is not None:
        within = np.full(len(cuts), np.inf, np.float32)
        within[candidates] = cuts[candidates]
        cuts = within
    wanted = [value for value in (k, query.top_k) if value is not None]
    return Plan(classifier, query, cuts, candidates, min(wanted, default=None), point)


def short(value: float) -> float:
    """The number with the seven digits that a float32 holds.

    >>> short(1.9299999475479126)
    1.93
    """
    return float(f"{value:.7g}")


def _short(value: float | None) -> float | None:
    return None if value is None else short(value)


def _candidates(labels: tuple[str, ...] | None, classifier: Classifier) -> Any:
    if labels is None:
        return None
    columns = classifier.labels.columns
    for position, label in enumerate(labels):
        if label not in columns:
            raise InvalidRequestError("the model has no such label", pointer=f"/labels/{position}")
    return np.array(sorted({columns[label] for label in labels}), dtype=np.intp)


def _cuts(
    query: Query, classifier: Classifier
) -> tuple[Row | None, int | None, dict[str, Any] | None]:
    """The cuts, or for a decision by rank its K, and the operating point where there is one."""
    n_labels = len(classifier.labels)
    if query.threshold is not None:
        return np.full(n_labels, query.threshold, np.float32), None, None
    if query.min_probability is not None:
        if getattr(classifier, "calibration", None) is None:
            raise InvalidRequestError(
                "this model has no calibration, so no probabilities", pointer="/min_probability"
            )
        # `judged > cut` is strict, and a probability equal to the minimum is enough.
        below = np.nextafter(np.float32(query.min_probability), np.float32(-1))
        return np.full(n_labels, below, np.float32), None, None
    return _operating_point(query.operating_point or "tuned", classifier)


def _operating_point(
    name: str, classifier: Classifier
) -> tuple[Row | None, int | None, dict[str, Any] | None]:
    if name == "tuned":
        cuts = classifier.decision.cuts
        k = None if cuts is not None else int(classifier.decision.name.partition(":")[2])
        return cuts, k, {"name": name}
    raise InvalidRequestError("this model has no operating points", pointer="/operating_point")
