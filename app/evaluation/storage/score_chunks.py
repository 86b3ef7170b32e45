"""ScoreChunks: the scores and the truth of one partition, chunk by chunk, on their way to others.

What needs all scores of a label is computed where the partitions are put together; until then they
are kept as they came.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth, truth_from_rows
from app.evaluation.measure.tally import Tally
from app.metrics.counting.score_rows import DenseRows, ScoredPairs, ScoreRows


class ScoreChunks:
    """Takes chunks as a `ScoreStore` does, and gives them away as arrays."""

    def __init__(self, n_labels: int) -> None:
        self._n_labels = n_labels
        self._chunks: list[tuple[ScoreRows, Truth]] = []

    def add(self, rows: ScoreRows, truth: Truth) -> None:
        """Keep one chunk; zero-shot columns of the truth are not kept."""
        self._chunks.append((rows, truth[:, : self._n_labels]))

    def tally(self) -> Tally:
        """All chunks, end to end."""
        rows, truths = [r for r, _ in self._chunks], [t for _, t in self._chunks]
        pairs = [one for one in rows if isinstance(one, ScoredPairs)]
        dense = [one.scores.ravel() for one in rows if isinstance(one, DenseRows)]
        return {
            "sizes": np.array([one.n_documents for one in rows], np.int64),
            "is_dense": np.array([isinstance(one, DenseRows) for one in rows], np.bool_),
            "dense": _end_to_end(dense, np.float32),
            "pair_counts": _end_to_end([np.diff(one.starts) for one in pairs], np.int64),
            "pair_columns": _end_to_end([one.column for one in pairs], np.int64),
            "pair_scores": _end_to_end([one.score for one in pairs], np.float32),
            "true_counts": _end_to_end([np.diff(one.indptr) for one in truths], np.int64),
            "true_columns": _end_to_end([one.indices for one in truths], np.int64),
        }


def chunks_of(tally: Tally, n_labels: int) -> Iterator[tuple[ScoreRows, Truth]]:
    """The chunks again, as they were added."""
    dense, true_counts, true_columns = (
        _Reader(tally[name]) for name in ("dense", "true_counts", "true_columns")
    )
    pair_counts, columns, scores = (
        _Reader(tally[name]) for name in ("pair_counts", "pair_columns", "pair_scores")
    )
    for size, is_dense in zip(tally["sizes"].tolist(), tally["is_dense"].tolist(), strict=True):
        rows: ScoreRows
        if is_dense:
            rows = DenseRows(dense.take(size * n_labels).reshape(size, n_labels))
        else:
            starts = np.concatenate([[0], np.cumsum(pair_counts.take(size))])
            count = int(starts[-1])
            rows = ScoredPairs(starts, columns.take(count), scores.take(count), n_labels)
        ends = np.cumsum(true_counts.take(size))
        own = true_columns.take(int(ends[-1]) if size else 0)
        yield rows, truth_from_rows([each.tolist() for each in np.split(own, ends[:-1])], n_labels)


class _Reader:
    """An array, taken from front to back."""

    def __init__(self, items: NDArray[Any]) -> None:
        self._items, self._at = items, 0

    def take(self, count: int) -> NDArray[Any]:
        self._at += count
        return self._items[self._at - count : self._at]


def _end_to_end(arrays: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
