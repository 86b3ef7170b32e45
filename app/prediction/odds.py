"""Odds: one label's probability from one score, without arrays, for the few labels of an answer."""

from bisect import bisect_right
from math import exp

from app.decisions.calibration import Calibration


class Odds:
    """A calibration as plain lists: an answer has a handful of labels, and arrays cost more."""

    def __init__(self, calibration: Calibration) -> None:
        self._slopes: list[float] = calibration.slopes.tolist()
        self._intercepts: list[float] = calibration.intercepts.tolist()
        self._offsets: list[int] = calibration.offsets.tolist()
        self._scores: list[float] = calibration.knot_scores.tolist()
        self._values: list[float] = calibration.knot_probabilities.tolist()

    def of(self, label: int, score: float) -> float:
        """The same number as `Calibration.probability`, for a score that is finite."""
        start, end = self._offsets[label], self._offsets[label + 1]
        if start == end:
            z = score * self._slopes[label] + self._intercepts[label]
            return 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))
        # The straight line between the two knots around the score; flat beyond the ends.
        scores, values = self._scores, self._values
        after = bisect_right(scores, score, start, end)
        if after == start:
            return values[start]
        if after == end:
            return values[end - 1]
        left, right = scores[after - 1], scores[after]
        share = (score - left) / (right - left)
        return values[after - 1] + share * (values[after] - values[after - 1])
