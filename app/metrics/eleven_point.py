"""11-point average precision of the labels' ranking (Yang 1999, section 3.1)."""

import numpy as np
from numpy.typing import NDArray

from app.metrics.ranking import NEVER, TrueRanks


def eleven_points(ranked: TrueRanks) -> NDArray[np.float64]:
    """(documents, 11): interpolated precision at recall 0, .1, …, 1; zeros without true labels.

    Each interval of recall [0,.1) … [.9,1) and {1} takes the highest precision found in it, then
    every point the maximum over itself and all points to its right. The interval is found in whole
    numbers, so recall 3/10 belongs to [.3,.4). Recall 1 that is never reached (zero-shot labels
    kept) counts 0.
    """
    points = np.zeros((len(ranked.relevant), 11))
    found = ranked.rank != NEVER
    document, place = ranked.document[found], ranked.place[found]
    interval = 10 * place // ranked.relevant[document]
    np.maximum.at(points, (document, interval), place / ranked.rank[found])
    return np.maximum.accumulate(points[:, ::-1], axis=1)[:, ::-1]


def eleven_point_average(ranked: TrueRanks) -> float:
    """The mean over documents and the 11 points; 0 without documents."""
    return float(eleven_points(ranked).mean()) if len(ranked.relevant) else 0.0
