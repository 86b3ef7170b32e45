"""A label that a rule assigns without a score has no probability in a report's figures."""

import numpy as np
from scipy.sparse import csr_array

from app.decisions.calibration.calibration import Calibration
from app.evaluation.measure.certainty import Certainty
from app.heldout import HeldOut
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.score_rows import ScoredPairs, score_rows


def test_risks_are_those_of_labels_with_a_score() -> None:
    random = np.random.default_rng(0)
    known = random.standard_normal((40, 200)).astype(np.float32)
    calibration = Calibration.fit(HeldOut.of(known, csr_array(known > 0)))
    scores = np.full((2, 200), -np.inf, np.float32)
    scores[0, 0], scores[1, 1] = 1.0, 2.0
    truth = csr_array(scores == 2.0)  # the last score is right, the other one is not
    curves = []
    for has_rule in (False, True):
        marks = scores > 0
        marks[0, 7] = has_rule
        rows, certainty = score_rows(scores), Certainty(calibration)
        assert isinstance(rows, ScoredPairs)
        certainty.add(rows, truth, Pairs.of(marks, truth))
        curves.append(certainty.risk_coverage())
    assert curves[0] == curves[1]
