"""Ranks of the true labels of each document, and the metrics at K that follow from them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.metrics.counting.comparisons import above_and_at_least

Integers = NDArray[np.int64]
Values = NDArray[np.float64]

NEVER = np.iinfo(np.int64).max
"""The rank of a label that has no column of scores (a zero-shot label): it is never found."""


@dataclass(frozen=True, slots=True)
class TrueRanks:
    """The true pairs of a chunk of documents, each document's by rising rank.

    Every ranking metric needs only these few numbers a pair, never the other scores.
    """

    relevant: Integers
    """(documents): how many true labels each has, zero-shot ones included."""
    document: Integers
    """(pairs): the row of the pair's document."""
    column: Integers
    """(pairs): the pair's label."""
    rank: Integers
    """(pairs): 1 = best; ties by rising column; without a score last; `NEVER` if zero-shot."""
    at_least: Integers
    """(pairs): labels scored at least as high, itself included; 0 where the pair has no score."""

    @classmethod
    def of(cls, scores: Scores, truth: Truth) -> Self:
        """The ranks of a chunk; columns of `truth` beyond those of `scores` are zero-shot.

        >>> from app.arrays import truth_from_rows
        >>> TrueRanks.of(np.float32([[0.2, 0.9, 0.9]]), truth_from_rows([[0, 2]], 3)).rank.tolist()
        [2, 3]
        """
        relevant = np.diff(truth.indptr).astype(np.int64)
        document = np.repeat(np.arange(len(relevant)), relevant)
        column = truth.indices.astype(np.int64)
        rank = np.full(len(column), NEVER)
        at_least = np.zeros(len(column), np.int64)
        known = np.flatnonzero(column < scores.shape[1])
        rank[known], at_least[known] = _standing(scores, document[known], column[known])
        order = np.lexsort((column, rank, document))
        return cls(relevant, document, column[order], rank[order], at_least[order])

    @property
    def place(self) -> Integers:
        """(pairs): 1 for the best-ranked true label of a document, 2 for the next, …"""
        starts = np.cumsum(self.relevant) - self.relevant
        return np.arange(1, len(self.document) + 1) - starts[self.document]

    def per_document(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> Values:
        """The sum of the pairs' values for each document."""
        n = len(self.relevant)
        return np.bincount(self.document, weights=values, minlength=n).astype(np.float64)


def hits_at(ranked: TrueRanks, k: int) -> Values:
    """True labels among the first k, for each document."""
    return ranked.per_document(ranked.rank <= k)


def precision_at(ranked: TrueRanks, k: int) -> Values:
    """hits / k for each document, also where there are fewer than k labels."""
    return hits_at(ranked, k) / k


def recall_at(ranked: TrueRanks, k: int) -> Values:
    """hits / true labels for each document; 0 without true labels."""
    return hits_at(ranked, k) / np.maximum(ranked.relevant, 1)


def r_precision_at(ranked: TrueRanks, k: int) -> Values:
    """hits / min(k, true labels) for each document; 0 without true labels."""
    return hits_at(ranked, k) / np.maximum(np.minimum(ranked.relevant, k), 1)


def dcg_at(ranked: TrueRanks, k: int) -> Values:
    """Discounted cumulative gain: Σ 1/log2(rank + 1) over the hits, for each document."""
    found = ranked.rank <= k
    return ranked.per_document(np.where(found, discount(np.where(found, ranked.rank, 1)), 0.0))


def ndcg_at(ranked: TrueRanks, k: int) -> Values:
    """DCG over the best attainable DCG, for each document; 0 without true labels."""
    ideal = np.concatenate([[1.0], np.cumsum(discount(np.arange(1, k + 1)))])
    return np.asarray(dcg_at(ranked, k) / ideal[np.minimum(ranked.relevant, k)])


def reciprocal_rank(ranked: TrueRanks) -> Values:
    """1 / rank of the first true label, for each document; 0 without one."""
    first = (ranked.place == 1) & (ranked.rank != NEVER)
    return ranked.per_document(np.where(first, 1.0 / np.where(first, ranked.rank, 1), 0.0))


def discount(rank: Integers) -> Values:
    """1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(rank + 1.0))


def _standing(scores: Scores, document: Integers, column: Integers) -> tuple[Integers, Integers]:
    """Rank, and the number of scores at least as high (0 if without score), of known pairs."""
    own = scores[document, column]
    above, at_least = above_and_at_least(scores, document, own)
    rank = above + 1
    for pair in np.flatnonzero(at_least > above + 1):
        row, label = document[pair], column[pair]
        rank[pair] += np.count_nonzero(scores[row, :label] == own[pair])
    return rank, np.where(own == -np.inf, 0, at_least)
