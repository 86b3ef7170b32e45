"""Plan: a Query resolved against one classifier; it turns scores into answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.classifier import Classifier
from app.prediction.answers import Label, Prediction, Term, short

CHUNK = 64
"""Documents scored between two looks at the clock: work that is too late ends soon."""

Row: TypeAlias = NDArray[np.float32]
Columns: TypeAlias = NDArray[np.intp]


class Explained(Protocol):
    """The terms that decided one label of one text, and what else is in its score."""

    @property
    def because(self) -> Sequence[Any]:
        """Terms with their weights and places (see app/explanation.py)."""
        ...

    @property
    def bias(self) -> float:
        """What the label starts from."""
        ...

    @property
    def rest(self) -> float:
        """What all other terms add."""
        ...


Explainer: TypeAlias = Callable[[Classifier, str, Sequence[int], int], Sequence[Explained]]
"""(classifier, text, label columns, most terms) → one explanation a label."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which labels may come, what cuts them off, and what is told about them."""

    classifier: Classifier
    cuts: Row | None
    """(labels,): +inf for labels that may not come; None for ranking alone."""
    top_k: int | None
    point: dict[str, Any] | None = None
    """The operating point's name and what was expected there on held-out data."""
    candidates: Columns | None = None
    """The labels that may come; None: all."""
    band: tuple[Row, Row] | None = None
    """Where the model abstains; empty (upper below lower) for labels that may not come."""
    is_by_probability: bool = False
    """Whether the cuts are on probabilities."""
    explain: int = 0
    explainer: Explainer | None = None

    def predictions(
        self, texts: Sequence[str], *, still_wanted: Callable[[], None] | None = None
    ) -> list[Prediction]:
        """One prediction a text; `still_wanted` is called between chunks and may raise."""
        if len(texts) == 1 and not self.explain:
            return [self.prediction(self.classifier.scores(texts)[0])]
        found: list[Prediction] = []
        for start in range(0, len(texts), CHUNK):
            if still_wanted is not None:
                still_wanted()
            found += self._of_chunk(texts[start : start + CHUNK])
        return found

    def prediction(self, scores: Row, picked: Columns | None = None) -> Prediction:
        """The answer for one row of scores; `picked` where the labels were decided elsewhere."""
        picked = self._picked(scores) if picked is None else by_score(scores, picked)
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

    def _of_chunk(self, texts: Sequence[str]) -> list[Prediction]:
        found = [self.prediction(row) for row in self.classifier.scores(texts)]
        if self.explainer is not None:
            for text, prediction in zip(texts, found, strict=True):
                self._explain(text, prediction, self.explainer)
        return found

    def _explain(self, text: str, prediction: Prediction, explainer: Explainer) -> None:
        columns = [self.classifier.labels.columns[label.label] for label in prediction.labels]
        explained = explainer(self.classifier, text, columns, self.explain)
        for label, why in zip(prediction.labels, explained, strict=True):
            label.because = [Term(r.term, short(r.weight), r.at) for r in why.because]
            label.bias, label.rest = short(why.bias), short(why.rest)

    def _picked(self, scores: Row) -> Columns:
        """The columns that come, by falling score, ties by rising number."""
        if self.cuts is not None:
            judged = self._probabilities(scores) if self.is_by_probability else scores
            ordered = by_score(scores, np.flatnonzero(judged > self.cuts))
            return ordered if self.top_k is None else ordered[: self.top_k]
        k = len(scores) if self.top_k is None else self.top_k
        if self.candidates is None:
            return best_columns(scores, k)
        return self.candidates[best_columns(scores[self.candidates], k)]

    def _probabilities(self, scores: Row) -> Row:
        assert self.classifier.calibration is not None  # noqa: S101
        found: Row = self.classifier.calibration.probabilities(scores[np.newaxis])[0]
        return found

    def _abstained(self, scores: Row) -> list[str] | None:
        if self.band is None:
            return None
        columns = np.flatnonzero((scores > self.band[0]) & (scores <= self.band[1]))
        return [self.classifier.labels.names[column] for column in columns.tolist()]


def by_score(scores: Row, columns: Columns) -> Columns:
    """The columns by falling score, ties by rising column."""
    return columns[np.argsort(-scores[columns], kind="stable")]


def best_columns(scores: Row, k: int) -> Columns:
    """The k best columns by falling score, ties by rising column; unscored ones never.

    >>> best_columns(np.array([0.5, 2.0, -np.inf, 2.0], np.float32), 3).tolist()
    [1, 3, 0]
    """
    passing = scores > -np.inf
    if k < len(scores):
        passing &= scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return by_score(scores, np.flatnonzero(passing))[:k]


def _short(value: float | None) -> float | None:
    return None if value is None else short(value)
