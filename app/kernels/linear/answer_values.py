"""What an answer tells about a label: probability and cut beside the score, in short numbers.

Plain functions, which are used as they are where there is no compiler; kernels/linear/picking.py
compiles them.
"""

from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGE, SMALL, LEAST = 1e9, 0.01, 1e-15
"""Up to `LARGE` six decimals of a number are told apart by a float; from `LEAST` seven digits."""
TOLD = 4
"""Numbers a label: its column, score, probability (NaN: there is none) and cut."""


class Curves(NamedTuple):
    """The labels' probabilities (decisions/calibration/); empty where there are none."""

    slopes: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    knot_scores: NDArray[np.float64]
    knot_probabilities: NDArray[np.float64]


NO_CURVES = Curves(*(np.zeros(0, dtype) for dtype in (float, float, np.int64, float, float)))


def fill_in(columns: Any, scores: Any, cuts: Any, curves: Curves, rows: Any) -> None:
    """Fill in a row a label."""
    for i in range(len(rows)):
        column, score = columns[i], float(scores[i])
        rows[i, 0], rows[i, 1] = column, short(score)
        rows[i, 2] = short(probability(curves, column, score)) if len(curves.slopes) else np.nan
        rows[i, 3] = short(float(cuts[column]))


def probability(curves: Curves, label: int, score: float) -> float:
    """The same number as `Calibration.probability`, for a score that is finite."""
    start, end = curves.offsets[label], curves.offsets[label + 1]
    if start == end:
        z = score * curves.slopes[label] + curves.intercepts[label]
        fading = exp(-abs(z))
        return (1.0 if z >= 0 else fading) / (1.0 + fading)
    # The straight line between the two knots around the score; flat beyond the ends.
    scores, values = curves.knot_scores, curves.knot_probabilities
    after, stop = start, end
    while after < stop:
        middle = (after + stop) // 2
        if scores[middle] <= score:
            after = middle + 1
        else:
            stop = middle
    if after in (start, end):
        return float(values[min(after, end - 1)])
    left, right = scores[after - 1], scores[after]
    share = (score - left) / (right - left)
    return float(values[after - 1] + share * (values[after] - values[after - 1]))


def short(value: float) -> float:
    """The number without the digits that a float32 does not hold.

    >>> short(1.9299999475479126), short(0.00012345678806)
    (1.93, 0.0001234568)
    >>> short(0)
    0.0
    """
    size = abs(value)
    if not LEAST < size < LARGE:
        return float(value)
    scale = 1e6 if size > SMALL else 1e8
    if size <= SMALL:
        while size * scale < 1e6:
            scale *= 10
    return int(value * scale + (0.5 if value > 0 else -0.5)) / scale
