"""Scores of a label's other documents in bins, for test sets too large to keep every score.

Scores of true documents are always kept. Of the others, ranks alone matter: bins that grow with
the rank keep the number of others above any true document known to half a per cent. A figure lies
between its values with the fewest and with the most others above; the report gives the middle.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.metrics.counting.ranked_positives import Integers, RankedPositives, never_found

Values = NDArray[np.float32]

TOLERANCE = 0.005
"""The documents of a bin, as a share of those above it; bins of one document first."""
LONGEST = 1 << 40


class RankBins(NamedTuple):
    """Other documents by falling score: each bin's lowest and highest score, and how many."""

    low: Values
    high: Values
    size: Integers


def rank_bins(scores: Values) -> RankBins:
    """The bins of some scores.

    >>> rank_bins(np.float32([0.1, 0.3, 0.2])).high.tolist() == np.float32([0.3, 0.2, 0.1]).tolist()
    True
    """
    falling = np.sort(scores)[::-1]
    ends = _bin_ends()
    ends = np.append(ends[: np.searchsorted(ends, len(falling))], len(falling))
    starts = np.concatenate([[0], ends[:-1]])
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    return RankBins(falling[ends - 1], falling[starts], ends - starts)


@cache
def _bin_ends() -> Integers:
    """How many documents stand in the first 1, 2, 3, … bins."""
    ends = [1]
    while ends[-1] < LONGEST:
        ends.append(ends[-1] + max(1, int(TOLERANCE * ends[-1])))
    return np.array(ends)


def ranked_between(
    true: Values, others: RankBins, positives: int
) -> tuple[RankedPositives, RankedPositives]:
    """A label's ranked true documents with the fewest, and with the most others above each."""
    if not len(true):
        return never_found(positives), never_found(positives)
    falling = np.sort(true)[::-1]
    last = np.flatnonzero(np.append(np.diff(falling) != 0, True))
    cuts, tp = falling[last], last + 1
    fewest, most = (at_least(edge, others.size, cuts) for edge in (others.low, others.high))
    return (
        RankedPositives(cuts, tp, tp + fewest, positives),
        RankedPositives(cuts, tp, tp + most, positives),
    )


def at_least(scores: Values, counts: Integers, cuts: Values) -> Integers:
    """How many documents are not below each cut, where `counts` of them share a score."""
    order = np.argsort(scores, kind="stable")
    below = np.concatenate([[0], np.cumsum(counts[order])])
    return np.asarray(below[-1] - below[np.searchsorted(scores[order], cuts)])
