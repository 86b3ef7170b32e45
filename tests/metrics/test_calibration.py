"""Reliability bins, calibration error and risk, on cases that can be counted by hand."""

import numpy as np
import pytest

from app.metrics.calibration import Reliability, expected_calibration_error


def counted(probabilities: list[float], marks: list[int]) -> Reliability:
    reliability = Reliability()
    half = len(marks) // 2
    for rows in (slice(0, half), slice(half, None)):
        reliability.add(np.float32(probabilities[rows]), np.array(marks[rows], np.bool_))
    return reliability


def test_risk_is_the_share_of_wrong_pairs_among_the_most_probable_that_are_kept() -> None:
    reliability = counted([0.9, 0.3, 0.7, 0.5], [1, 0, 0, 1])
    assert [tuple(one) for one in reliability.risks(4)] == [
        (0.25, 0.0, pytest.approx(0.9, abs=1e-4)),
        (0.5, 0.5, pytest.approx(0.7, abs=1e-4)),
        (0.75, pytest.approx(1 / 3), pytest.approx(0.5, abs=1e-4)),
        (1.0, 0.5, pytest.approx(0.3, abs=1e-4)),
    ]


def test_bins_hold_equally_many_pairs_and_the_error_weighs_them_by_their_pairs() -> None:
    reliability = counted([0.2, 0.2, 0.2, 0.8], [0, 0, 0, 1])
    bins = reliability.bins(2)
    assert [(one.pairs, one.share) for one in bins] == [(3, 0.0), (1, 1.0)]
    assert expected_calibration_error(bins) == pytest.approx((3 * 0.2 + 1 * 0.2) / 4)
    uneven = counted([0.4, 0.4, 0.4, 0.8], [0, 0, 0, 1]).bins(2)
    assert expected_calibration_error(uneven) == pytest.approx((3 * 0.4 + 1 * 0.2) / 4)


def test_without_pairs_there_are_no_bins_no_risks_and_no_error() -> None:
    assert Reliability().bins() == Reliability().risks() == []
    assert expected_calibration_error([]) is None
