"""Rows of scores, dense or sparse: what the ranks of true labels are read from.

A model that scores a hundred of twenty thousand labels is measured by its hundred: `ScoredPairs`
leaves out what a dense array says with -inf. Both forms give the same ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores
from app.metrics.counting.comparisons import above_and_at_least

Integers = NDArray[np.int64]

SPARSE = 8
"""Rows are sparse where at most one label of so many has a score."""


@dataclass(frozen=True)
class DenseRows:
    """Scores as an array, -inf where there is none."""

    scores: Scores

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type of the scores."""
        return self.scores.dtype

    @property
    def n_documents(self) -> int:
        """The array's rows."""
        return len(self.scores)

    @property
    def n_columns(self) -> int:
        """The array's columns."""
        return int(self.scores.shape[1])

    def array(self) -> Scores:
        """The scores, -inf where there is none."""
        return self.scores

    def ranks(self, document: Integers, column: Integers) -> tuple[Integers, Integers]:
        """Rank (ties by rising column), and labels at least as high; both 0 without a score.

        The pairs come by rising document; each is compared with its row.
        """
        own = self.scores[document, column]
        is_scored = own > -np.inf
        above, at_least = above_and_at_least(self.scores, document, own)
        rank = above + 1
        for pair in np.flatnonzero((at_least > above + 1) & is_scored):
            row, label = document[pair], column[pair]
            rank[pair] += np.count_nonzero(self.scores[row, :label] == own[pair])
        return rank * is_scored, at_least * is_scored

    def take(self, documents: Integers, columns: Integers) -> "DenseRows":
        """Some rows and columns, both rising."""
        return DenseRows(self.scores[np.ix_(documents, columns)])

    def best(self) -> Integers:
        """Each document's first label; -1 where none has a score."""
        if not self.n_columns:
            return np.full(self.n_documents, -1)
        first = self.scores.argmax(axis=1)
        is_scored = self.scores[np.arange(len(first)), first] > -np.inf
        return np.where(is_scored, first, -1)


@dataclass(frozen=True)
class ScoredPairs:
    """The scored pairs alone, by document, then by column."""

    starts: Integers
    """(documents + 1): where each document's pairs begin and end."""
    column: Integers
    score: NDArray[np.float32]
    n_columns: int

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """The pairs of an array that are not -inf.

        >>> pairs = ScoredPairs.of(np.float32([[-np.inf, 2, 1], [-np.inf, -np.inf, -np.inf]]))
        >>> pairs.column.tolist(), pairs.starts.tolist(), pairs.best().tolist()
        ([1, 2], [0, 2, 2], [1, -1])
        """
        n, m = scores.shape
        cells = np.flatnonzero(scores > -np.inf)
        starts = np.searchsorted(cells, np.arange(n + 1) * m)
        column = cells - np.repeat(np.arange(n) * m, np.diff(starts))
        return cls(starts, column, scores.ravel()[cells], m)

    @classmethod
    def stacked(cls, parts: Sequence["ScoredPairs"]) -> Self:
        """The rows of all parts, one after the other."""
        counts = np.concatenate([np.diff(one.starts) for one in parts])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([one.column for one in parts]),
            np.concatenate([one.score for one in parts]),
            parts[0].n_columns,
        )

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type of the scores."""
        return self.score.dtype

    @property
    def n_documents(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    @cached_property
    def document(self) -> Integers:
        """(pairs): the row of each pair."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.starts))

    def array(self) -> Scores:
        """The scores, -inf where there is none."""
        dense = np.full((self.n_documents, self.n_columns), -np.inf, self.score.dtype)
        dense[self.document, self.column] = self.score
        return dense

    def find(self, document: Integers, column: Integers) -> Integers:
        """Where these pairs stand; -1 where one has no score."""
        wanted = document * self.n_columns + column
        at = np.searchsorted(self._keys, wanted)
        # A column beyond these (a zero-shot label) would be taken for one of the next document.
        is_here = (np.append(self._keys, -1)[at] == wanted) & (column < self.n_columns)
        return np.where(is_here, at, -1)

    def ranks(self, document: Integers, column: Integers) -> tuple[Integers, Integers]:
        """As for `DenseRows`, looked up among the ranks of all scored pairs."""
        at = self.find(document, column)
        rank, at_least = (np.append(values, 0)[at] for values in self._ranks)
        return rank, at_least

    def take(self, documents: Integers, columns: Integers) -> "ScoredPairs":
        """Some rows and columns, both rising and renumbered."""
        row, label = np.full(self.n_documents, -1), np.full(self.n_columns, -1)
        row[documents], label[columns] = np.arange(len(documents)), np.arange(len(columns))
        kept = (row[self.document] >= 0) & (label[self.column] >= 0)
        counts = np.bincount(row[self.document[kept]], minlength=len(documents))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return ScoredPairs(starts, label[self.column[kept]], self.score[kept], len(columns))

    def best(self) -> Integers:
        """Each document's first label; -1 where none has a score."""
        column = np.append(self.column[self._order], -1)
        has_score = np.diff(self.starts) > 0
        return np.where(has_score, column[self.starts[:-1]], -1)

    @cached_property
    def _keys(self) -> Integers:
        return self.document * self.n_columns + self.column

    @cached_property
    def _order(self) -> Integers:
        """The pairs by document, falling score, rising column."""
        return np.lexsort((self.column, -self.score, self.document))

    @cached_property
    def _ranks(self) -> tuple[Integers, Integers]:
        """(pairs): rank, and labels at least as high."""
        order, start = self._order, self.starts[self.document]
        rank, at_least = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        place = np.arange(1, len(order) + 1)
        rank[order] = place - start
        score = self.score[order]
        is_last = (np.diff(score, append=np.nan) != 0) | (np.diff(self.document, append=-1) != 0)
        ends = place[is_last]
        at_least[order] = ends[np.searchsorted(ends, place)] - start
        return rank, at_least


ScoreRows: TypeAlias = DenseRows | ScoredPairs


def score_rows(scores: Scores) -> ScoreRows:
    """The scores in the form that takes less."""
    n_scored = np.count_nonzero(scores > -np.inf)
    return ScoredPairs.of(scores) if n_scored * SPARSE <= scores.size else DenseRows(scores)
