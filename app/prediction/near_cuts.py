"""Which scores are near their cut: decisions that a person should look at."""

import numpy as np

from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import Row

ODDS = 2.0
"""How many times as likely, or as unlikely, a label may be as it is at its cut."""


def near_cuts(cuts: Row, calibration: Calibration, is_by_probability: bool) -> tuple[Row, Row]:
    """The lower and upper score of each label between which a decision is near its cut.

    There the odds of the label, p / (1 - p), are less than `ODDS` times, and more than the
    `ODDS`-th part of, what they are at the cut: on the label's sigmoid a distance of
    ln(ODDS) / slope from the cut on either side. Labels that may not come are near nothing.
    """
    if is_by_probability:
        return _of_probabilities(cuts, calibration)
    width = np.log(ODDS) / calibration.slopes
    return (cuts - width).astype(np.float32), (cuts + width).astype(np.float32)


def _of_probabilities(cuts: Row, calibration: Calibration) -> tuple[Row, Row]:
    is_cut = (cuts > 0) & (cuts < 1)
    odds = np.where(is_cut, cuts, 0.5) / (1 - np.where(is_cut, cuts, 0.5))
    ends = []
    for bound in (odds / ODDS, odds * ODDS):
        scores = calibration.scores_at(bound / (1 + bound))
        ends.append(np.where(is_cut, scores, np.inf).astype(np.float32))
    return ends[0], ends[1]
