"""11-point average precision of the labels' ranking (Yang 1999, section 3.1)."""

from collections.abc import Sequence

import numpy as np

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import NEVER, TrueRanks, Values


def eleven_points(ranked: TrueRanks) -> Values:
    """(documents, 11): interpolated precision at recall 0, .1, …, 1; zeros without true labels.

    Each interval of recall [0,.1) … [.9,1) and {1} takes the highest precision found in it, then
    every point the maximum over itself and all points to its right. The interval is found in whole
    numbers, so recall 3/10 belongs to [.3,.4). Recall 1 that is never reached (zero-shot labels
    kept) counts 0.
    """
    points = np.zeros((len(ranked.relevant), 11))
    is_ranked = ranked.rank != NEVER
    document, place = ranked.document[is_ranked], ranked.place[is_ranked]
    interval = 10 * place // ranked.relevant[document]
    np.maximum.at(points, (document, interval), place / ranked.rank[is_ranked])
    return np.maximum.accumulate(points[:, ::-1], axis=1)[:, ::-1]


def mean_of_points(sums: Sequence[float], n: float) -> float:
    """The mean over documents and the 11 points; 0 without documents."""
    return sum(means(sums, n)) / len(sums)


def means(sums: Sequence[float], n: float) -> list[float]:
    """The mean over documents of each point."""
    return [total / n for total in sums]


ELEVEN_POINT = RankingMetric(eleven_points, width=11, figure=mean_of_points)
ELEVEN_POINTS = RankingMetric(eleven_points, width=11, figure=means)
