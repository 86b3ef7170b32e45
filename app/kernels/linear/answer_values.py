"""The numbers that an answer has for a label: score, probability and cut, rounded for reading.

Plain functions, used as they are where there is no compiler; linear/picking.py compiles them.
"""

from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGE, SMALL, LEAST = 1e9, 0.01, 1e-15
"""Numbers below `LARGE` have six decimals; from `SMALL` down to `LEAST` seven digits instead."""
N_VALUES = 4
"""Values of a label: its column, score, probability (NaN without a calibration) and cut."""


class Curves(NamedTuple):
    """Score → probability for each label (decisions/calibration/); empty without a calibration.

    Label l has knots `offsets[l]` to `offsets[l + 1]`; without any, a sigmoid.
    """

    slopes: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    knot_scores: NDArray[np.float64]
    knot_probabilities: NDArray[np.float64]


NO_CURVES = Curves(*(np.zeros(0, dtype) for dtype in (float, float, np.int64, float, float)))


def write_values(columns: Any, scores: Any, cuts: Any, curves: Curves, rows: Any) -> None:
    """Write the values of one label to each row of `rows` (labels, N_VALUES)."""
    for i in range(len(rows)):
        column, score = columns[i], float(scores[i])
        rows[i, 0], rows[i, 1] = column, short(score)
        rows[i, 2] = short(probability(curves, column, score)) if len(curves.slopes) else np.nan
        rows[i, 3] = short(float(cuts[column]))


def probability(curves: Curves, label: int, score: float) -> float:
    """The probability of a label with a finite score, as `Calibration.probability` has it."""
    start, end = curves.offsets[label], curves.offsets[label + 1]
    if start == end:
        z = score * curves.slopes[label] + curves.intercepts[label]
        fading = exp(-abs(z))  # never above 1: exp does not overflow
        return (1.0 if z >= 0 else fading) / (1.0 + fading)
    # The straight line between the two knots around the score; flat beyond the ends.
    scores, values = curves.knot_scores, curves.knot_probabilities
    after, stop = start, end  # binary search of the first knot above the score
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
    """The number rounded to six decimals, small ones to seven digits: a float32 has no more.

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
        while size * scale < 1e6:  # seven digits before the point
            scale *= 10
    # Half away from zero, by truncation: the same in Python and compiled, where round() differs.
    return int(value * scale + (0.5 if value > 0 else -0.5)) / scale
