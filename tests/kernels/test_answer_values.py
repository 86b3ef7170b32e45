"""What an answer tells about a label: the numbers of the calibration, without needless digits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.decisions.calibration.calibration import Calibration
from app.errors import DamagedArtifactError
from app.heldout import HeldOut
from app.kernels import kernels
from app.kernels.linear import picking_plain
from app.kernels.linear.answer_values import NO_CURVES, short

N_LABELS = 3


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    pick = np.random.default_rng(0)
    truth = pick.random((400, N_LABELS)) < [0.02, 0.3, 0.5]
    scores = (truth * 2 - 1 + pick.normal(size=truth.shape)).astype(np.float32)
    found = Calibration.fit(HeldOut.of(scores, truth))
    assert 0 < np.count_nonzero(np.diff(found.offsets)) < N_LABELS  # sigmoids and curves
    return found


def test_probabilities_are_those_of_the_calibration(calibration: Calibration) -> None:
    pick = np.random.default_rng(1)
    knots = calibration.knot_scores.astype(np.float32)
    scores = np.concatenate([pick.normal(scale=4, size=500).astype(np.float32), knots, [-99, 99]])
    scores = scores.astype(np.float32)
    labels = pick.integers(0, N_LABELS, len(scores))
    cuts = np.array([-np.inf, 0.123456789, 1e-5], np.float32)
    curves = calibration.curves(N_LABELS)
    rows = np.array(kernels("linear.picking").LabelValues(cuts, curves).rows(labels, scores))
    assert rows.tolist() == picking_plain.LabelValues(cuts, curves).rows(labels, scores)
    assert rows[:, 0].tolist() == labels.tolist()
    np.testing.assert_allclose(rows[:, 1], scores, rtol=1e-6, atol=5e-7)
    expected = calibration.probability(labels, scores)
    np.testing.assert_allclose(rows[:, 2], expected, rtol=1e-6, atol=1e-6)
    for value in rows[:, 1:3][np.abs(rows[:, 1:3]) > 1e-15].tolist():
        assert value == (round(value, 6) if abs(value) > 0.01 else float(f"{value:.7g}"))
    assert dict(zip(labels, rows[:, 3], strict=True)) == {
        0: -np.inf,
        1: 0.123457,
        2: 1e-5,
    }


def test_without_a_calibration_there_are_no_probabilities() -> None:
    cuts = np.zeros(2, np.float32)
    for picking in (kernels("linear.picking"), picking_plain):
        rows = picking.LabelValues(cuts, NO_CURVES).rows(np.array([1, 0]), np.ones(2, np.float32))
        assert [(column, score, cut) for column, score, _, cut in rows] == [(1, 1, 0), (0, 1, 0)]
        assert all(math.isnan(row[2]) for row in rows)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: {"slopes": one.slopes[:-1]},
        lambda one: {"offsets": one.offsets + 1},
        lambda one: {"offsets": one.offsets[::-1]},
        lambda one: {"offsets": one.offsets.astype(np.int32)},
        lambda one: {"offsets": np.array([0, len(one.knot_scores) + 9, 1, len(one.knot_scores)])},
        lambda one: {"knot_scores": one.knot_scores[:-1]},
        lambda one: {"knot_probabilities": one.knot_probabilities[:-1]},
    ],
)
def test_arrays_that_do_not_fit_never_reach_a_kernel(calibration: Calibration, change) -> None:
    arrays = {name: getattr(calibration, name) for name in Calibration.__slots__}
    damaged = Calibration(**{**arrays, **change(calibration)})
    with pytest.raises(DamagedArtifactError, match="do not fit the labels"):
        damaged.curves(N_LABELS)


@settings(deadline=None)
@given(st.floats(width=32))
def test_a_short_number_is_the_same_float32_or_six_decimals_of_it(value: float) -> None:
    found = short(value)
    if math.isnan(value):
        assert math.isnan(found)
    elif abs(value) > 0.01:
        assert found == (round(value, 6) if abs(value) < 1e9 else value)
    else:
        assert found == (float(f"{value:.7g}") if abs(value) > 1e-15 else value)
