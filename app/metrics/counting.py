"""Counting comparisons along rows quickly: the inner loop of every rank."""

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores


def counts_by_row(
    compare: np.ufunc, scores: Scores, rows: NDArray[np.int64], values: NDArray[np.float32]
) -> NDArray[np.int64]:
    """For each (row, value): how many scores of that row `compare` to the value.

    `rows` must be sorted. Works on the first pair of every row at once, then on the second, …

    >>> counts_by_row(np.greater, np.float32([[1, 2, 3]]), np.array([0, 0]), np.float32([1, 3]))
    array([2, 0])
    """
    counts = np.zeros(len(rows), np.int64)
    starts = np.searchsorted(rows, rows)
    place = np.arange(len(rows)) - starts
    for nth in range(int(place.max(initial=-1)) + 1):
        pairs = np.flatnonzero(place == nth)
        chosen = scores if len(pairs) == len(scores) else scores[rows[pairs]]
        counts[pairs] = _true_by_row(compare(chosen, values[pairs, None]))
    return counts


def _true_by_row(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are true in each row; packing bits first is several times faster than a sum."""
    counts: NDArray[np.int64] = np.bitwise_count(np.packbits(marks, axis=1)).sum(
        axis=1, dtype=np.int64
    )
    return counts
