"""Histograms instead of all scores, for test sets too large to keep them; with an error bound.

Every label gets edges taken from the scores seen so far, at ranks that grow by about one per cent,
so that the bins are fine where a label's best documents stand. At an edge the counts are exact;
only the order inside a bin is lost. So every figure lies between the one where all true documents
of a bin come first in it and the one where they come last: the report gives the middle, and the
largest half-width as the bound.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.metrics.counting.ranked_positives import LabelBins, RankedPositives

Integers = NDArray[np.int64]
BYTES = 48 << 20
MOST_EDGES, FEWEST_EDGES = 1024, 64


class LabelHistograms:
    """Counts of all and of true documents between each label's edges."""

    def __init__(self, n_labels: int) -> None:
        per_label = BYTES // (20 * max(n_labels, 1))
        self.n_edges = int(np.clip(per_label, FEWEST_EDGES, MOST_EDGES))
        self.edges = np.full((n_labels, self.n_edges), np.inf, np.float32)
        self.all = np.zeros((n_labels, self.n_edges + 1), np.int64)
        self.true = np.zeros((n_labels, self.n_edges + 1), np.int64)
        self.positives = np.zeros(n_labels, np.int64)

    def begin(self, columns: Iterable[tuple[int, NDArray[np.float32], NDArray[np.bool_]]]) -> None:
        """Choose the edges from the scores kept so far, and count those."""
        for label, scores, marks in columns:
            self.edges[label] = edges_of(scores, self.n_edges)
            self._count(label, scores, marks)

    def add(self, scores: Scores, truth: Truth) -> None:
        """Count a further chunk."""
        marks = truth[:, : scores.shape[1]].toarray()
        for label in range(scores.shape[1]):
            self._count(label, scores[:, label], marks[:, label])

    def at_edges(self, label: int) -> RankedPositives:
        """The exact counts at the edges that part true documents, by falling score."""
        true, every = _from_top(self.true[label]), _from_top(self.all[label])
        useful = np.flatnonzero(np.diff(true, prepend=0))
        edges = self.edges[label][::-1][useful]
        return RankedPositives(edges, true[useful], every[useful], int(self.positives[label]))

    def best_case(self, label: int) -> RankedPositives:
        """The same, if the true documents of every bin came first in it: nothing is better."""
        true, every = self.true[label][::-1], self.all[label][::-1]
        before = np.cumsum(every) - every
        useful = np.flatnonzero(true)
        edges = np.append(self.edges[label][::-1], -np.inf)[useful].astype(np.float32)
        best = (np.cumsum(true)[useful], (before + true)[useful])
        return RankedPositives(edges, *best, int(self.positives[label]))

    def bins(self, label: int) -> LabelBins:
        """The counts between the edges, by falling score."""
        true, every = self.true[label][::-1], self.all[label][::-1]
        return LabelBins(true[:-1], every[:-1], int(true[-1]), int(self.positives[label]))

    def _count(self, label: int, scores: NDArray[np.float32], marks: NDArray[np.bool_]) -> None:
        bins = np.searchsorted(self.edges[label], scores, side="right")
        self.all[label] += np.bincount(bins, minlength=self.n_edges + 1)
        self.true[label] += np.bincount(bins[marks], minlength=self.n_edges + 1)
        self.positives[label] += int(np.count_nonzero(marks))


def edges_of(scores: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    """n rising scores at ranks 1, 2, 3, … then ever further apart, down to the lowest; +inf fills.

    >>> edges_of(np.arange(8, dtype=np.float32), 4).tolist()
    [0.0, 5.0, 6.0, 7.0]
    """
    falling = np.sort(scores[scores > -np.inf])[::-1]
    edges = np.full(n, np.inf, np.float32)
    if len(falling):
        spread = np.geomspace(n // 2 + 1, max(len(falling), n), n - n // 2) - 1
        ranks = np.concatenate([np.arange(n // 2), spread.astype(np.int64)])
        values = np.unique(falling[np.unique(np.minimum(ranks, len(falling) - 1))])
        edges[: len(values)] = values
    return edges


def _from_top(bins: Integers) -> Integers:
    """Counts at or above each edge, by falling edge; the bin under the lowest edge is left out."""
    return np.cumsum(bins[1:][::-1])
