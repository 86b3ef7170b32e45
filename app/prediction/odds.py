"""One label's probability from one score: `Calibration` without arrays, for a few labels."""

from bisect import bisect_right
from math import exp

from app.decisions.calibration import Calibration


def probability(calibration: Calibration, label: int, score: float) -> float:
    """The same number as `calibration.probability`, for a score that is finite."""
    start, end = calibration.offsets.item(label), calibration.offsets.item(label + 1)
    if start == end:
        z = score * calibration.slopes.item(label) + calibration.intercepts.item(label)
        return 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))
    return _on_curve(calibration, start, end, score)


def _on_curve(calibration: Calibration, start: int, end: int, score: float) -> float:
    """The straight line between the two knots around the score; flat beyond the ends."""
    scores, values = calibration.knot_scores, calibration.knot_probabilities
    after: int = bisect_right(scores, score, start, end)
    if after == start:
        return values.item(start)
    if after == end:
        return values.item(end - 1)
    left, right = scores.item(after - 1), scores.item(after)
    share = (score - left) / (right - left)
    return values.item(after - 1) + share * (values.item(after) - values.item(after - 1))
