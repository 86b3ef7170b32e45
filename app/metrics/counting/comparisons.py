"""Counts of the scores of a row that are above a value: the inner loop of every rank."""

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores

CELLS = 1 << 17
"""Scores looked at together: few enough to stay in a processor's cache while they are compared."""

Counts = NDArray[np.int64]


def above_and_at_least(
    scores: Scores, rows: Counts, values: NDArray[np.float32]
) -> tuple[Counts, Counts]:
    """For each (row, value): how many scores of that row are above it, and how many not below.

    `rows` must be sorted.

    >>> above_and_at_least(np.float32([[1, 2, 2]]), np.array([0]), np.float32([2]))
    (array([0]), array([2]))
    """
    above, at_least = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    size = max(1, CELLS // max(scores.shape[1], 1))
    starts = range(0, len(scores), size)
    ends = np.searchsorted(rows, [*starts, len(scores)])
    for start, first, last in zip(starts, ends[:-1], ends[1:], strict=True):
        pairs = slice(first, last)
        block = scores[start : start + size]
        above[pairs], at_least[pairs] = _block(block, rows[pairs] - start, values[pairs])
    return above, at_least


def _block(block: Scores, rows: Counts, values: NDArray[np.float32]) -> tuple[Counts, Counts]:
    """The same for few rows: the first pair of every row at once, then the second, …"""
    above, at_least = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    for nth in range(int(place.max(initial=-1)) + 1):
        pairs = np.flatnonzero(place == nth)
        chosen = block if len(pairs) == len(block) else block[rows[pairs]]
        own = values[pairs, None]
        above[pairs], at_least[pairs] = _true_by_row(chosen > own), _true_by_row(chosen >= own)
    return above, at_least


def _true_by_row(marks: NDArray[np.bool_]) -> Counts:
    """How many are true in each row; packing bits first is several times faster than a sum."""
    counts: Counts = np.bitwise_count(np.packbits(marks, axis=1)).sum(axis=1, dtype=np.int64)
    return counts
