"""TrueRanks: the ranks of the true labels of each document, which every ranking metric rests on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.metrics.counting.score_rows import DenseRows, ScoreRows

Integers = NDArray[np.int64]
Values = NDArray[np.float64]

NEVER = np.iinfo(np.int64).max
"""The rank of a label without a score, as a zero-shot label's: it is never found."""


@dataclass(frozen=True)
class TrueRanks:
    """The true pairs of a chunk of documents, each document's by rising rank.

    Every ranking metric needs only these few numbers a pair, never the other scores.
    """

    relevant: Integers
    """(documents): how many true labels each has, zero-shot ones included."""
    column: Integers
    """(pairs): the pair's label."""
    rank: Integers
    """(pairs): 1 = best; ties by rising column; `NEVER` without a score."""
    at_least: Integers
    """(pairs): labels scored at least as high, itself included; 0 where the pair has no score."""
    n_columns: int
    """Labels that are ranked, zero-shot ones included."""
    inverse: Values | None = None
    """1/propensity of each label, and last that of every zero-shot label; None: not known."""

    @classmethod
    def of(cls, scores: Scores, truth: Truth, inverse: Values | None = None) -> Self:
        """The ranks of a chunk; columns of `truth` beyond those of `scores` are zero-shot.

        >>> from app.arrays import truth_from_rows
        >>> TrueRanks.of(np.float32([[0.2, 0.9, 0.9]]), truth_from_rows([[0, 2]], 3)).rank.tolist()
        [2, 3]
        """
        return cls.of_rows(DenseRows(scores), truth, inverse)

    @classmethod
    def of_rows(cls, rows: ScoreRows, truth: Truth, inverse: Values | None = None) -> Self:
        """The same of rows that may be sparse."""
        relevant = np.diff(truth.indptr).astype(np.int64)
        document = np.repeat(np.arange(len(relevant)), relevant)
        column = truth.indices.astype(np.int64)
        rank, at_least = np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
        known = np.flatnonzero(column < rows.n_columns)
        rank[known], at_least[known] = rows.ranks(document[known], column[known])
        rank[rank == 0] = NEVER
        order = np.lexsort((column, rank, document))
        return cls(relevant, column[order], rank[order], at_least[order], truth.shape[1], inverse)

    @cached_property
    def document(self) -> Integers:
        """(pairs): the row of the pair's document."""
        return np.repeat(np.arange(len(self.relevant)), self.relevant)

    @cached_property
    def place(self) -> Integers:
        """(pairs): 1 for the best-ranked true label of a document, 2 for the next, …"""
        starts = np.cumsum(self.relevant) - self.relevant
        return np.arange(1, len(self.document) + 1) - starts[self.document]

    @cached_property
    def true_at_least(self) -> Integers:
        """(pairs): true labels of the document scored at least as high, itself included."""
        if not len(self.place):
            return self.place
        tied = (np.diff(self.document) == 0) & (np.diff(self.at_least) == 0)
        ends = np.flatnonzero(np.append(~tied, True))
        return self.place[ends[np.searchsorted(ends, np.arange(len(self.place)))]]

    @cached_property
    def weight(self) -> Values:
        """(pairs): 1/propensity of the label; only where propensities are known."""
        assert self.inverse is not None  # noqa: S101 - for the type checker
        return self.inverse[np.minimum(self.column, len(self.inverse) - 1)]

    @cached_property
    def falling_weight(self) -> Values:
        """(pairs): each document's weights again, the heaviest first."""
        return self.weight[np.lexsort((-self.weight, self.document))]

    def per_document(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> Values:
        """The sum of the pairs' values for each document."""
        n = len(self.relevant)
        return np.bincount(self.document, weights=values, minlength=n).astype(np.float64)
