"""Plan: a Query resolved against one classifier; it turns scores into answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np

from app.arrays import Scores
from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import SORTED_AT_ONCE, Columns, Row, best, by_score
from app.errors import DamagedArtifactError, InvalidRequestError
from app.kernels import kernels
from app.kernels.linear.answer_values import Curves, short
from app.labels import LabelIndex
from app.prediction.answers import Label, Prediction, Term

CHUNK = 64
"""Documents scored between two looks at the clock: work that is too late ends soon."""


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

    @property
    def is_approximate(self) -> bool:
        """Whether the terms' weights are estimates."""
        ...


TextExplainer: TypeAlias = Callable[[str, Sequence[int], int], Sequence[Explained]]
"""(text, label columns, most terms) → one explanation a label."""


class TextClassifier(Protocol):
    """What a plan asks of a classifier (see app/classifier.py)."""

    @property
    def labels(self) -> LabelIndex:
        """The labels it knows."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """The probabilities of its scores, if it has any."""
        ...

    @property
    def curves(self) -> Curves:
        """The calibration as kernels see it; empty without one."""
        ...

    @property
    def is_ready_made(self) -> bool:
        """Whether documents are rows of features, not texts."""
        ...

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document."""
        ...

    def text_scorer(self) -> Any:
        """What picks a text's labels in one kernel; None where there is no such."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """Which labels may come, what cuts them off, and what is told about them."""

    classifier: TextClassifier
    cuts: Row
    """(labels,): -inf for ranking alone, +inf for labels that may not come."""
    top_k: int | None
    point: dict[str, Any] | None = None
    """The operating point's name and what was expected there on held-out data."""
    shows_cuts: bool = True
    """Whether labels come with the cut they have passed."""
    is_by_probability: bool = False
    """Whether the cuts are on probabilities."""
    band: tuple[Row, Row] | None = None
    """Where the model abstains; empty (upper below lower) for labels that may not come."""
    explain: int = 0
    explainer: TextExplainer | None = None
    _told: Any = field(init=False, repr=False, compare=False)
    """What is told about labels, as kernels see it."""
    _scorer: Any = field(init=False, repr=False, compare=False)
    """Answers a lone text by one kernel that keeps no scores; None: texts are scored first."""

    def __post_init__(self) -> None:
        if self.cuts.shape != (len(self.classifier.labels),) or self.cuts.dtype != np.float32:
            raise DamagedArtifactError("the cuts do not fit the labels")  # kernels do not look
        told = _picking().LabelValues(self.cuts, self.classifier.curves)
        object.__setattr__(self, "_told", told)
        needs_scores = self.band is not None or self.is_by_probability or self.explainer is not None
        scorer = None if needs_scores else self.classifier.text_scorer()
        object.__setattr__(self, "_scorer", scorer)

    def predictions(
        self,
        texts: Sequence[str],
        *,
        still_wanted: Callable[[], None] | None = None,
        most: float = np.inf,
    ) -> list[Prediction]:
        """One prediction a text; `still_wanted` is called between chunks and may raise.

        More than `most` labels (and terms, where they are explained) are an InvalidRequestError.
        """
        if len(texts) == 1 and self._scorer is not None and most >= SORTED_AT_ONCE:
            lone = self._lone(texts[0])
            if lone is not None:
                return [lone]
        found: list[Prediction] = []
        try:
            self._predict_all(texts, found, still_wanted=still_wanted, most=most)
        except BaseException:
            # Here, and one by one: whoever catches the error would free a million labels at once.
            while found:
                found.pop()
            raise
        return found

    def _predict_all(
        self,
        texts: Sequence[str],
        found: list[Prediction],
        *,
        still_wanted: Callable[[], None] | None,
        most: float,
    ) -> None:
        room = most
        for start in range(0, len(texts), CHUNK):
            if still_wanted is not None:
                still_wanted()
            chunk = texts[start : start + CHUNK]
            for text, scores in zip(chunk, self.classifier.scores(chunk), strict=True):
                picked = self._picked(scores)
                room -= len(picked[0]) * max(1, self.explain)
                if room < 0:  # known before a label is made
                    raise _too_many(most)
                prediction = self._prediction(scores, picked)
                room -= len(prediction.abstained or ())
                if self.explainer is not None:
                    self._explain(text, prediction, self.explainer)
                found.append(prediction)

    def prediction(self, scores: Row, columns: Columns | None = None) -> Prediction:
        """The answer for one row of scores; `columns` where the labels were decided elsewhere."""
        picked = self._picked(scores) if columns is None else by_score(scores, columns)
        return self._prediction(scores, picked)

    def _prediction(self, scores: Row, picked: tuple[Columns, Row]) -> Prediction:
        labels = self._labels(self._told.rows(*picked))
        if self.band is None:
            return Prediction(labels)
        return Prediction(labels, abstained=self._abstained(scores, self.band))

    def _lone(self, text: str) -> Prediction | None:
        """The answer for one text; None where there is more to sort than a kernel has room for."""
        room = SORTED_AT_ONCE if self.top_k is None else min(self.top_k, SORTED_AT_ONCE)
        passing, rows = self._scorer.picked(text, self._told, room)
        return Prediction(self._labels(rows)) if passing <= room or room == self.top_k else None

    def _labels(self, rows: list[list[float]]) -> list[Label]:
        names, shows_cuts = self.classifier.labels.names, self.shows_cuts
        if self.classifier.calibration is None:
            return [
                Label(names[int(column)], score, None, cut if shows_cuts else None)
                for column, score, _, cut in rows
            ]
        return [
            Label(names[int(column)], score, probability, cut if shows_cuts else None)
            for column, score, probability, cut in rows
        ]

    def _explain(self, text: str, prediction: Prediction, explainer: TextExplainer) -> None:
        columns = [self.classifier.labels.columns[label.label] for label in prediction.labels]
        explained = explainer(text, columns, self.explain)
        for label, why in zip(prediction.labels, explained, strict=True):
            label.because = [Term(r.term, short(r.weight), r.at) for r in why.because]
            label.bias, label.rest = short(why.bias), short(why.rest)
            label.approximate = why.is_approximate or None

    def _picked(self, scores: Row) -> tuple[Columns, Row]:
        """The columns that come and their scores: best first, ties by rising column."""
        if self.is_by_probability:
            passing = (self._probabilities(scores) > self.cuts) & (scores > -np.inf)
            columns = np.flatnonzero(passing)
            picked, found = by_score(scores, columns)
            return picked[: self.top_k], found[: self.top_k]
        return best(scores, self.cuts, self.top_k)

    def _probabilities(self, scores: Row) -> Row:
        assert self.classifier.calibration is not None  # noqa: S101
        found: Row = self.classifier.calibration.probabilities(scores[np.newaxis])[0]
        return found

    def _abstained(self, scores: Row, band: tuple[Row, Row]) -> list[str]:
        columns = np.flatnonzero((scores > band[0]) & (scores <= band[1]))
        return [self.classifier.labels.names[column] for column in columns.tolist()]


def _too_many(most: float) -> InvalidRequestError:
    return InvalidRequestError(
        f"more than {most:,} labels or terms would come back; accepted: fewer documents, "
        "a lower top_k, a higher cut, fewer terms"
    )


@cache
def _picking() -> ModuleType:
    return kernels("linear.picking")
