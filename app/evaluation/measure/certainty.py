"""Calibration, risk and abstention, where the model has them."""

from typing import Any

import numpy as np

from app.arrays import Marks, Scores, Truth
from app.metrics.calibration import LOWEST, Reliability, expected_calibration_error


class Certainty:
    """Reliability of probabilities over likely pairs, and over the pairs that were assigned."""

    def __init__(self, scorer: Any) -> None:
        self.calibration = getattr(scorer, "calibration", None)
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


class Abstaining:
    """A decision that gives no label where the model abstains, and counts what it held back."""

    def __init__(self, decision: Any, abstention: Any) -> None:
        self.decision, self.abstention = decision, abstention
        self.name: str = decision.name
        self.cuts = np.maximum(decision.cuts, abstention.upper)
        self.assigned = self.held_back = 0

    def decide(self, scores: Scores) -> Marks:
        """Mark what is assigned without doubt."""
        marks: Marks = self.decision.decide(scores)
        held_back = marks & self.abstention.abstained(scores)
        self.assigned += int(np.count_nonzero(marks))
        self.held_back += int(np.count_nonzero(held_back))
        return np.asarray(marks & ~held_back)
