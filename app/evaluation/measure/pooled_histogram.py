"""One histogram of the highest scores of all labels together: the break-even point without them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.metrics.break_even import BreakEven, TopScores

EDGES = 1 << 16
REACH = 4
"""Scores counted, in multiples of the true pairs seen when the histogram begins."""


class PooledHistogram:
    """Exact counts of assigned and right pairs at each of many cuts."""

    def __init__(self) -> None:
        self.edges = np.zeros(0, np.float32)
        self.all = np.zeros(1, np.int64)
        self.true = np.zeros(1, np.int64)

    def begin(
        self,
        columns: Iterable[tuple[int, NDArray[np.float32], NDArray[np.bool_]]],
        relevant: int,
    ) -> None:
        """Choose the cuts among the highest scores kept so far; they are counted by `add`."""
        top = TopScores(REACH * relevant)
        for _, scores, _ in columns:
            top.add(scores)
        ranks = np.linspace(0, len(top.kept()) - 1, EDGES).astype(np.int64)
        self.edges = np.unique(np.sort(top.kept())[ranks]) if len(top.kept()) else self.edges
        self.all = np.zeros(len(self.edges) + 1, np.int64)
        self.true = np.zeros(len(self.edges) + 1, np.int64)

    def add(self, scores: Scores, truth: Truth) -> None:
        """Count a chunk."""
        if not len(self.edges):
            return
        rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
        known = truth.indices < scores.shape[1]
        self.all += self._bins(scores[scores >= self.edges[0]])
        right = scores[rows[known], truth.indices[known]]
        self.true += self._bins(right[right >= self.edges[0]])

    def break_even(self, relevant: int) -> tuple[BreakEven, float]:
        """The mean of precision and recall at the cut nearest to it, and how far it may be off.

        So many pairs too few or too many are assigned there, and each may be right or wrong.
        """
        assigned = np.cumsum(self.all[::-1])[::-1][1:]
        right = np.cumsum(self.true[::-1])[::-1][1:]
        if not len(assigned) or not relevant:
            return BreakEven(0.0, 0.0), float(relevant > 0)
        precision, recall = right / np.maximum(assigned, 1), right / relevant
        gap = np.abs(precision - recall)
        best = np.lexsort((assigned, gap, np.abs(assigned - relevant)))[0]
        value = BreakEven(float((precision[best] + recall[best]) / 2), float(gap[best]))
        missing = abs(int(assigned[best]) - relevant) / relevant
        return value, min(1.0, missing + value.gap / 2)

    def _bins(self, scores: NDArray[np.float32]) -> NDArray[np.int64]:
        bins = np.searchsorted(self.edges, scores, side="right")
        return np.bincount(bins, minlength=len(self.edges) + 1)
