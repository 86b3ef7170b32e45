"""Growth: what the figures of the same cuts gain when the model is fitted to more documents.

Some documents have two held-out scores, by a model of a smaller and of a larger share of the
documents. Figures approach their end like 1 / documents, so what the larger share changed tells
what all documents will change. Cuts are chosen on the other documents.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.cross_fit import ChoiceCounts, Ranked
from app.decisions.expectation.expectations import BETAS, PRICES
from app.heldout import FewerDocuments, HeldOut


class Growth(NamedTuple):
    """Factors of right and wrong assignments by price; what to add to macro figures by β."""

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    macro_precision: NDArray[np.float64]
    macro_recall: NDArray[np.float64]

    @classmethod
    def none(cls) -> "Growth":
        """Where held-out scores come from the final model, or nothing is known."""
        return cls(*np.ones((2, len(PRICES))), *np.zeros((2, len(BETAS))))

    @classmethod
    def of(cls, held_out: HeldOut) -> "Growth":
        """From the scores of fewer documents; `none` without them."""
        if held_out.fewer is None or not len(held_out.fewer.labels):
            return cls.none()
        fewer = held_out.fewer
        counted = [own for own in _counted(held_out, fewer) if own is not None]
        if not counted:
            return cls.none()
        positives = np.array([own.positives for own in counted])
        weights = np.array([own.weight for own in counted])
        before = _stacked([own.before for own in counted])
        after = _stacked([own.after for own in counted])
        step = _step(fewer)
        factors = _factor(_summed(before, weights), _summed(after, weights), step)
        gains = step * (_macro(after, positives, weights) - _macro(before, positives, weights))
        return cls(*factors, *gains)


class _LabelGrowth(NamedTuple):
    """A label's positives among the rows, and counts there by the smaller and larger model."""

    positives: int
    before: ChoiceCounts
    after: ChoiceCounts
    weight: float


def _counted(held_out: HeldOut, fewer: FewerDocuments) -> list[_LabelGrowth | None]:
    """Per label its growth; None where there is nothing to count, or to choose on."""
    is_row = np.zeros(held_out.n_documents, np.bool_)
    is_row[fewer.rows] = True
    return [_label_growth(held_out, fewer, i, is_row) for i in range(len(fewer.labels))]


def _label_growth(
    held_out: HeldOut, fewer: FewerDocuments, i: int, is_row: NDArray[np.bool_]
) -> _LabelGrowth | None:
    label, rows = int(fewer.labels[i]), fewer.rows
    ranked, is_positive = Ranked.of(held_out.column(label)), np.zeros(len(is_row), np.bool_)
    is_positive[held_out.positives(label)] = True
    marks, before = is_positive[rows], fewer.scores[:, i]
    outside = ranked.of_documents(~is_row)
    if not marks.any() or not len(outside.right):
        return None
    cuts = outside.cuts()
    earlier = Ranked(np.sort(before[marks]), rows[:0], np.sort(before[~marks]), rows[:0])
    after = ranked.of_documents(is_row).counts(cuts)
    weight = float(fewer.weights[i])
    return _LabelGrowth(int(marks.sum()), earlier.counts(cuts), after, weight)


def _step(fewer: FewerDocuments) -> float:
    """How much of what the larger share changed all documents will change again."""
    larger = 1 / fewer.held_out_share
    return (larger - 1) / (1 / fewer.share - larger)


def _stacked(counts: list[ChoiceCounts]) -> ChoiceCounts:
    return ChoiceCounts(np.array([own.tp for own in counts]), np.array([own.fp for own in counts]))


def _summed(counts: ChoiceCounts, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    by_price = counts.by_price()
    return np.array([weights @ by_price.tp, weights @ by_price.fp])


def _factor(
    before: NDArray[np.float64], after: NDArray[np.float64], step: float
) -> NDArray[np.float64]:
    """Growth as a factor; one more on both sides, so that few assignments claim little."""
    return np.asarray(((after + 1) / (before + 1)) ** step, np.float64)


def _macro(
    counts: ChoiceCounts, positives: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(2, β): macro-precision and -recall."""
    tp, fp = counts.by_beta()
    figures = np.array([tp / np.maximum(tp + fp, 1), tp / positives[:, None]])
    return np.asarray(np.average(figures, axis=1, weights=weights))
