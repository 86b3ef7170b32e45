"""Micro break-even points, where precision equals recall: of one cut for all, of one a label."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Integers = NDArray[np.int64]
PENDING = 1 << 18


class BreakEven(NamedTuple):
    """The value, and |precision − recall| there: 0 unless ties forbid an exact break-even."""

    value: float
    gap: float


class TopScores:
    """The `size` highest of all scores that go by, and how many equal the lowest of them.

    Memory is bounded by `size` (and one chunk), however many scores there are.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: Scores = np.zeros(0, np.float32)
        self._pending: list[Scores] = []
        self._n_pending = 0
        self._bound = np.float32(-np.inf)
        self._dropped_ties = 0

    def add(self, scores: Scores) -> None:
        """Take in some scores of any shape; -inf is no score."""
        if self.size == 0:
            return
        wanted = scores[(scores >= self._bound) & (scores > -np.inf)]
        self._pending.append(wanted)
        self._n_pending += len(wanted)
        if self._n_pending > max(self.size, PENDING):
            self._settle()

    def cut(self) -> tuple[np.float32, int, int]:
        """The lowest kept score, how many scores are above it, and how many at least equal."""
        self._settle()
        if not len(self._kept):
            return np.float32(np.inf), 0, 0
        lowest = self._kept.min()
        above = int(np.count_nonzero(self._kept > lowest))
        ties = self._dropped_ties if lowest == self._bound else 0
        return lowest, above, len(self._kept) + ties

    def kept(self) -> Scores:
        """The highest scores, in no order."""
        self._settle()
        return self._kept

    def _settle(self) -> None:
        """Keep the highest of what is kept and pending."""
        kept = np.concatenate([self._kept, *self._pending])
        self._pending, self._n_pending = [], 0
        surplus = len(kept) - self.size
        if surplus > 0:
            kept.partition(surplus)
            bound = kept[surplus]
            ties = int(np.count_nonzero(kept[:surplus] == bound))
            self._dropped_ties = ties + (self._dropped_ties if bound == self._bound else 0)
            self._bound = bound
            kept = kept[surplus:].copy()
        self._kept = kept


def break_even(top: TopScores, right: Scores) -> BreakEven:
    """The break-even point, where `top` holds as many scores as there are true pairs.

    `right` are the scores of the true pairs. Among attainable cuts the nearest in assigned pairs
    counts, then the smaller gap, then fewer pairs; its value is the mean of precision and recall.
    Without true pairs it is 0.
    """
    relevant = top.size
    if not relevant:
        return BreakEven(0.0, 0.0)
    lowest, above, at_least = top.cut()
    options = [
        (above, int(np.count_nonzero(right > lowest))),
        (at_least, int(np.count_nonzero(right >= lowest))),
    ]
    _, gap, _, value = min(_judged(assigned, tp, relevant) for assigned, tp in options)
    return BreakEven(value, gap)


def break_even_per_label(tp: Integers, fp: Integers, relevant: int) -> BreakEven:
    """The point of the smallest |precision − recall| along the best micro-F_β of all β.

    `tp` and `fp` are the pairs rightly and wrongly assigned after each step of a path of per-label
    cuts, from nothing on; a step is no more precise than the one before it. Steps of equal
    precision pay at the same β and are taken together. The first point among equals; 0 without
    true pairs, or without a step.

    >>> break_even_per_label(np.array([0, 1, 2]), np.array([0, 0, 1]), 3)
    BreakEven(value=0.6666666666666666, gap=0.0)
    """
    if not relevant or len(tp) == 1:
        return BreakEven(0.0, 0.0)
    assigned = tp + fp
    step_precision = np.diff(tp) / np.diff(assigned)
    points = 1 + np.flatnonzero(np.append(np.diff(step_precision) != 0, True))
    precision, recall = tp[points] / assigned[points], tp[points] / relevant
    # |tp/assigned − tp/relevant|, as one division: rounding must not part equal gaps.
    gap = tp[points] * np.abs(assigned[points] - relevant) / (assigned[points] * relevant)
    best = int(np.argmin(gap))
    return BreakEven(float((precision[best] + recall[best]) / 2), float(gap[best]))


def _judged(assigned: int, tp: int, relevant: int) -> tuple[int, float, int, float]:
    """What cuts are compared by (distance, gap, pairs), and the value."""
    precision, recall = tp / assigned if assigned else 0.0, tp / relevant
    return abs(assigned - relevant), abs(precision - recall), assigned, (precision + recall) / 2
