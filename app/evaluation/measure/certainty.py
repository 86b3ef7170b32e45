"""Calibration and risk, where the model has probabilities."""

from typing import Any

from app.arrays import Marks, Scores, Truth
from app.decisions.calibration.calibration import Calibration
from app.metrics.calibration import LOWEST, Reliability, expected_calibration_error


class Certainty:
    """Reliability of probabilities over likely pairs, and over the pairs that were assigned."""

    def __init__(self, calibration: Calibration | None) -> None:
        self.calibration = calibration
        self._likely, self._assigned = Reliability(), Reliability()

    def add(self, scores: Scores, truth: Truth, marks: Marks) -> None:
        """Count one chunk."""
        if self.calibration is None:
            return
        probabilities = self.calibration.probabilities(scores)
        dense = truth[:, : scores.shape[1]].toarray()
        likely = probabilities >= LOWEST
        self._likely.add(probabilities[likely], dense[likely])
        self._assigned.add(probabilities[marks], dense[marks])

    def calibration_figures(self) -> dict[str, Any]:
        """The `calibration` part of a report; no error and no bins without calibration."""
        bins = self._likely.bins()
        return {
            "ece": expected_calibration_error(bins),
            "bins": [one._asdict() for one in bins],
        }

    def risk_coverage(self) -> list[dict[str, float]]:
        """The `risk_coverage` part of a report."""
        return [one._asdict() for one in self._assigned.risks()]
