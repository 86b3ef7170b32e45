"""What is asked of a model, resolved once into a Plan; a Plan turns scores into answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores
from app.classifier import Classifier
from app.decisions.pr_curve import micro_figures
from app.errors import InvalidRequestError

CHUNK = 64
"""Documents scored between two looks at the clock: work that is too late ends soon."""

Row = NDArray[np.float32]


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
    point: dict[str, Any] | None = None
    """The operating point's name and what was expected there on held-out data."""
    band: tuple[Row, Row] | None = None
    """Where the model abstains; empty (upper = lower) for labels that may not come."""
    is_by_probability: bool = False
    """Whether the cuts are on probabilities."""

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
        return [self._prediction(row) for row in scores]

    def _prediction(self, scores: Row) -> Prediction:
        picked = self._picked(scores)
        names, found = self.classifier.labels.names, scores[picked]
        nothing = [None] * len(picked)
        cuts = nothing if self.cuts is None else self.cuts[picked].tolist()
        calibration = self.classifier.calibration
        likely = nothing if calibration is None else calibration.probability(picked, found).tolist()
        columns = zip(picked.tolist(), found.tolist(), likely, cuts, strict=True)
        labels = [
            Label(names[column], short(score), _short(probability), _short(cut))
            for column, score, probability, cut in columns
        ]
        return Prediction(labels, abstained=self._abstained(scores))

    def _probabilities(self, scores: Row) -> Row:
        assert self.classifier.calibration is not None  # noqa: S101
        found: Row = self.classifier.calibration.probabilities(scores[np.newaxis])[0]
        return found

    def _abstained(self, scores: Row) -> list[str] | None:
        if self.band is None:
            return None
        columns = np.flatnonzero((scores > self.band[0]) & (scores <= self.band[1]))
        return [self.classifier.labels.names[column] for column in columns.tolist()]

    def _picked(self, scores: Row) -> NDArray[np.intp]:
        """The columns that come, by falling score, ties by rising number."""
        if self.cuts is not None:
            judged = self._probabilities(scores) if self.is_by_probability else scores
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
    n_asked = sum(value is not None for value in asked)
    if n_asked > 1:
        raise InvalidRequestError("at most one of operating_point, threshold, min_probability")
    candidates = _candidates(query.labels, classifier)
    if query.threshold is not None:
        plan = _one_cut(query, classifier, query.threshold)
    elif query.min_probability is not None:
        plan = _probability_cut(query, classifier, query.min_probability)
    elif n_asked == 0 and query.top_k is not None:
        plan = Plan(classifier, query, None, None, query.top_k)
    else:
        plan = _operating_point(query, classifier, query.operating_point or "tuned")
    return plan if candidates is None else _restricted(plan, candidates)


def _one_cut(query: Query, classifier: Classifier, cut: float) -> Plan:
    cuts = np.full(len(classifier.labels), cut, np.float32)
    return Plan(classifier, query, cuts, None, query.top_k)


def _probability_cut(query: Query, classifier: Classifier, least: float) -> Plan:
    if classifier.calibration is None:
        raise InvalidRequestError(
            "this model has no calibration, so no probabilities", pointer="/min_probability"
        )
    # A cut is passed strictly above it, but a probability equal to the minimum is enough.
    below = float(np.nextafter(np.float32(least), np.float32(-1)))
    return replace(_one_cut(query, classifier, below), is_by_probability=True)


def _operating_point(query: Query, classifier: Classifier, name: str) -> Plan:
    if name == "tuned":
        return _tuned(query, classifier)
    if classifier.operating_points is None:
        raise InvalidRequestError(
            "this model has no held-out scores, so no operating points; accepted: tuned",
            pointer="/operating_point",
        )
    found = classifier.operating_points.find(name)
    point = {"name": name, "precision": short(found.precision), "recall": short(found.recall)}
    return Plan(classifier, query, found.cuts, None, query.top_k, point)


def _tuned(query: Query, classifier: Classifier) -> Plan:
    """The stored decision; abstention belongs to it and raises its cuts to the bands' ends."""
    decision, abstention = classifier.decision, classifier.abstention
    point = {"name": "tuned", **_expected(classifier)}
    if decision.cuts is None:
        k = int(decision.name.partition(":")[2])
        return Plan(classifier, query, None, None, min(k, query.top_k or k), point)
    if abstention is None:
        return Plan(classifier, query, decision.cuts, None, query.top_k, point)
    cuts = np.maximum(decision.cuts, abstention.upper)
    band = (abstention.lower, abstention.upper)
    return Plan(classifier, query, cuts, None, query.top_k, point, band)


def _expected(classifier: Classifier) -> dict[str, float]:
    """Micro precision and recall of the stored cuts on held-out data, where these are known."""
    hulls, cuts = classifier.hulls, classifier.decision.cuts
    if hulls is None or cuts is None or classifier.abstention is not None:
        return {}
    label = np.repeat(np.arange(hulls.n_labels), np.diff(hulls.offsets))
    equal = np.flatnonzero(hulls.cuts == cuts[label])
    labels, first = np.unique(label[equal], return_index=True)
    if len(labels) < hulls.n_labels:
        return {}
    precision, recall = micro_figures(hulls, equal[first])
    return {"precision": short(precision), "recall": short(recall)}


def _restricted(plan: Plan, candidates: NDArray[np.intp]) -> Plan:
    """The same plan with only these labels allowed to come."""
    if plan.cuts is None:
        return replace(plan, candidates=candidates)
    outside = np.ones(len(plan.cuts), np.bool_)
    outside[candidates] = False
    band = plan.band
    if band is not None:
        band = band[0], np.where(outside, -np.inf, band[1]).astype(np.float32)
    cuts = np.where(outside, np.inf, plan.cuts).astype(np.float32)
    return replace(plan, cuts=cuts, candidates=candidates, band=band)


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
