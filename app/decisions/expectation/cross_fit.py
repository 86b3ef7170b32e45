"""Cross-fitting: cuts chosen without a part of the documents, and counted on that part.

A cut looks better on the documents it was chosen on than on others, and the scores of each part of
the held-out documents come from a model of their own. Both are in these counts as they will be for
new documents. A *choice* is one way to choose a cut: at a price (the share of right ones that a
step of the cut must have to pay, see app/decisions/tuning/micro_f.py), or for the best F_β.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.expectations import BETAS, LEAST_PRICE, PRICES
from app.decisions.expectation.label_sample import label_sample
from app.decisions.tuning.hulls import MOST_POINTS, before, midway
from app.heldout import Column, HeldOut

LEAST = int(np.searchsorted(PRICES, LEAST_PRICE))
WRONG_A_RIGHT_ONE = 100
"""Negatives further down than so many a positive are above no cut that pays at a price of 0.01."""
MOST_FREQUENT, OTHERS = 160, 160
"""How many labels are counted."""


class ChoiceCounts(NamedTuple):
    """Right and wrong assignments, one row a part of the documents, one column a choice."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]

    def by_price(self) -> "ChoiceCounts":
        """Those of the choices at `PRICES`."""
        return ChoiceCounts(self.tp[..., : len(PRICES)], self.fp[..., : len(PRICES)])

    def by_beta(self) -> "ChoiceCounts":
        """Those of the choices for `BETAS`."""
        return ChoiceCounts(self.tp[..., len(PRICES) :], self.fp[..., len(PRICES) :])


@dataclass(frozen=True, slots=True)
class Ranked:
    """One label's documents by rising score: its positives, and the negatives worth looking at."""

    right: NDArray[np.float32]
    right_documents: NDArray[np.int64]
    wrong: NDArray[np.float32]
    wrong_documents: NDArray[np.int64]

    @classmethod
    def of(cls, column: Column) -> "Ranked":
        """The column sorted."""
        is_right = np.flatnonzero(column.marks)
        is_wrong = np.flatnonzero(~column.marks)
        most = WRONG_A_RIGHT_ONE * (len(is_right) + 1)
        if len(is_wrong) > most:
            is_wrong = is_wrong[np.argpartition(column.scores[is_wrong], -most)[-most:]]
        right = is_right[np.argsort(column.scores[is_right])]
        wrong = is_wrong[np.argsort(column.scores[is_wrong])]
        scores, documents = column.scores, column.documents
        return cls(scores[right], documents[right], scores[wrong], documents[wrong])

    def of_documents(self, is_taken: NDArray[np.bool_]) -> "Ranked":
        """The scores of some documents only, without their numbers."""
        return self.where(is_taken[self.right_documents], is_taken[self.wrong_documents])

    def where(self, right: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> "Ranked":
        """The scores of some positives and negatives only, without their documents' numbers."""
        nobody = self.right_documents[:0]
        return Ranked(self.right[right], nobody, self.wrong[wrong], nobody)

    def cuts(self) -> NDArray[np.float32]:
        """The cut of every choice; the highest among equals.

        Candidates are as in `points` (hulls.py): just below a positive document, or above all.
        """
        right, wrong = self.right, self.wrong
        if not len(right):
            return np.full(len(PRICES) + len(BETAS), np.inf, np.float32)
        above = right[_thinned(len(right))[::-1]]
        first_right, first_wrong = np.searchsorted(right, above), np.searchsorted(wrong, above)
        tp = np.concatenate([[0], len(right) - first_right])
        chosen = _chosen(tp, np.concatenate([[0], len(wrong) - first_wrong]))
        below = np.maximum(before(right, first_right), before(wrong, first_wrong))
        cuts = np.concatenate([[np.inf], midway(below, above)])  # inf: nothing pays
        return np.asarray(cuts[chosen], np.float32)

    def counts(self, cuts: NDArray[np.float32]) -> ChoiceCounts:
        """Right and wrong assignments above each cut."""
        return ChoiceCounts(_above(self.right, cuts), _above(self.wrong, cuts))


class LabelCrossFit(NamedTuple):
    """What one label's choices assign: (parts, choices), or (choices,) where on all documents."""

    positives: NDArray[np.int64]
    """Of each part."""
    inside: ChoiceCounts
    """On each part, of cuts chosen on the others."""
    outside: ChoiceCounts
    """On the others, where they were chosen."""
    everywhere: ChoiceCounts
    """On all documents, of cuts chosen on all."""
    ranked: Ranked
    cuts: NDArray[np.float32]
    """Chosen on all documents."""
    weight: float
    """How many labels it stands for."""


def cross_fit(held_out: HeldOut, parts: NDArray[np.int32]) -> Iterator[LabelCrossFit]:
    """The counts of labels with a scored positive; of a sample of them where there are many."""
    numbers = np.unique(parts)
    is_inside = parts == numbers[:, None]
    counts = np.diff(held_out.truth.indptr)
    sample = label_sample(counts, most_frequent=MOST_FREQUENT, others=OTHERS)
    for label, weight in zip(sample.labels.tolist(), sample.weights, strict=True):
        column = held_out.column(label)
        if not column.marks.any():
            continue
        ranked = Ranked.of(column)
        cuts = ranked.cuts()
        positives = is_inside[:, held_out.positives(label)].sum(axis=1)
        inside, outside = zip(*_of_parts(ranked, parts, numbers), strict=True)
        yield LabelCrossFit(
            positives,
            _stacked(inside),
            _stacked(outside),
            ranked.counts(cuts),
            ranked,
            cuts,
            weight,
        )


def _of_parts(
    ranked: Ranked, parts: NDArray[np.int32], numbers: NDArray[np.int32]
) -> Iterator[tuple[ChoiceCounts, ChoiceCounts]]:
    """For every part counts on it, and on the others, of cuts chosen on the others."""
    right, wrong = parts[ranked.right_documents], parts[ranked.wrong_documents]
    for part in numbers:
        inside = ranked.where(right == part, wrong == part)
        outside = ranked.where(right != part, wrong != part)
        cuts = outside.cuts()
        yield inside.counts(cuts), outside.counts(cuts)


def _stacked(counts: tuple[ChoiceCounts, ...]) -> ChoiceCounts:
    return ChoiceCounts(np.array([c.tp for c in counts]), np.array([c.fp for c in counts]))


def _chosen(tp: NDArray[np.int64], fp: NDArray[np.int64]) -> NDArray[np.int64]:
    """The candidate of every choice: prices first, then β; the first among equals."""
    assigned = tp + fp
    by_price = np.argmax(tp[:, None] - PRICES * assigned[:, None], axis=0)
    last = int(by_price[LEAST]) + 1
    squares = BETAS**2 * tp[-1]
    by_beta = np.argmax(tp[:last, None] / (assigned[:last, None] + squares), axis=0)
    return np.concatenate([by_price, by_beta])


def _thinned(n: int) -> NDArray[np.int64]:
    """The places of n candidates, or where there are very many an even choice of them."""
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.linspace(0, n - 1, MOST_POINTS).astype(np.int64)


def _above(scores: NDArray[np.float32], cuts: NDArray[np.float32]) -> NDArray[np.int64]:
    return len(scores) - np.searchsorted(scores, cuts, side="right")
