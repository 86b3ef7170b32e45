"""What one label's hull says: by hand, and by counting every pair."""

import numpy as np
import pytest

from app.decisions.calibration.calibration import Calibration
from app.decisions.label_hull import LabelHull, reliability
from app.decisions.tuning.hulls import Hulls

HULLS = Hulls(
    np.array([0, 1, 4]),
    fp=np.int32([0, 0, 1, 4]),
    tp=np.int32([0, 0, 3, 5]),
    cuts=np.float32([np.inf, 3.0, 1.0, -1.0]),
    positives=np.int32([0, 5]),
    n_documents=20,
)
"""A label that nobody has, and one of 5 documents."""


@pytest.mark.parametrize(
    ("cut", "tp", "fp", "is_exact"),
    [
        (np.inf, 0, 0, True),
        (4.0, 0, 0, True),
        (2.1, 0, 0, False),
        (1.9, 3, 1, False),
        (1.0, 3, 1, True),
        (0.0, 3, 1, False),
        (-1.0, 5, 4, True),
        (-2.0, 5, 4, False),
    ],
)
def test_a_cut_has_the_counts_of_the_nearest_vertex(
    cut: float, tp: int, fp: int, is_exact: bool
) -> None:
    hull = LabelHull.of(HULLS, 1)
    assert (hull.documents, hull.positives, len(hull.points)) == (20, 5, 3)
    assert hull.nearest(cut)[1:] == (tp, fp)
    assert hull.has_counts_at(cut) == is_exact


def test_a_label_without_documents_is_never_assigned() -> None:
    assert LabelHull.of(HULLS, 0).nearest(0.0) == (np.inf, 0, 0)


def test_pairs_between_two_cuts_are_binned_by_the_mean_of_their_probabilities() -> None:
    none = np.zeros(0)
    linear = Calibration(
        np.ones(2), np.zeros(2), np.array([0, 0, 2]), np.array([-1.0, 3.0]), np.array([0.0, 1.0])
    )
    # The probability is 1 at the cut 3, 0.5 at 1 and 0 at -1.
    first, second = reliability(HULLS, linear)
    assert (first.probability, first.share, first.pairs) == (0.25, 2 / 5, 5)
    assert (second.probability, second.share, second.pairs) == (0.75, 3 / 4, 4)
    unlikely = Calibration(np.zeros(2), np.full(2, -9.0), np.zeros(3, np.int64), none, none)
    assert reliability(HULLS, unlikely) == []
