"""Calibration and risk, where the model has probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.decisions.calibration.calibration import Calibration
from app.evaluation.measure.tally import Tally, joined, part
from app.metrics.calibration import LOWEST, Reliability, expected_calibration_error
from app.metrics.counting.pairs import FN, FP, Pairs
from app.metrics.counting.score_rows import ScoredPairs, ScoreRows


class Certainty:
    """Reliability of probabilities over likely pairs, and over the pairs that were assigned."""

    def __init__(self, calibration: Calibration | None) -> None:
        self.calibration = calibration
        self._likely, self._assigned = Reliability(), Reliability()

    def add(self, scores: ScoreRows, truth: Truth, pairs: Pairs) -> None:
        """Count one chunk and the pairs that were decided on."""
        if self.calibration is None:
            return
        probabilities, is_true, at = (
            _of_pairs(self.calibration, scores, truth, pairs)
            if isinstance(scores, ScoredPairs)
            else _of_array(self.calibration, scores.scores, truth, pairs)
        )
        likely = probabilities >= LOWEST
        self._likely.add(probabilities[likely], is_true[likely])
        # A rule may assign a label that has no score, and so no probability.
        assigned = at[(pairs.kind != FN) & (at >= 0)]
        self._assigned.add(probabilities[assigned], is_true[assigned])

    def tally(self) -> Tally:
        """What was counted, to be added to another's counts."""
        return joined({"likely": self._likely.tally(), "assigned": self._assigned.tally()})

    def merge(self, tally: Tally) -> None:
        """Add what was counted of other documents."""
        self._likely.merge(part(tally, "likely"))
        self._assigned.merge(part(tally, "assigned"))

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


def _of_array(
    calibration: Calibration, scores: Scores, truth: Truth, pairs: Pairs
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int64]]:
    """Every cell's probability and truth, and where the decided and true pairs stand there."""
    is_true = truth[:, : scores.shape[1]].toarray()
    at = pairs.document * scores.shape[1] + pairs.column
    return calibration.probabilities(scores).ravel(), is_true.ravel(), at


def _of_pairs(
    calibration: Calibration, scores: ScoredPairs, truth: Truth, pairs: Pairs
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int64]]:
    """The same of the scored pairs: the others have probability 0 and are never assigned."""
    at = scores.find(pairs.document, pairs.column)
    is_true = np.zeros(len(scores.score), np.bool_)
    is_true[at[(pairs.kind != FP) & (at >= 0)]] = True
    return calibration.probability(scores.column, scores.score), is_true, at
