"""Probabilities rise with the score, come out the same for few and many, and mean what they say."""

import numpy as np
from scipy.sparse import csc_array, csr_array

from app.decisions.calibration.calibration import Calibration, sigmoid
from app.decisions.calibration.isotonic import isotonic_curve
from app.heldout import HeldOut
from tests.decisions.cases import given_patiently, held_outs


def drawn(n_documents: int, seed: int, rarest: float = -8.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose true probability is σ(3·score + intercept of the label), and a draw of truth."""
    random = np.random.default_rng(seed)
    scores = random.standard_normal((n_documents, 20)).astype(np.float32)
    likely = sigmoid(3.0 * scores + np.linspace(rarest, 0, 20))
    return scores, random.random(scores.shape) < likely


def error(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """Expected calibration error over pairs with probability ≥ .1 in 15 bins of equal mass."""
    p, y = probabilities[probabilities >= 0.1], truth[probabilities >= 0.1]
    bins = np.array_split(np.argsort(p, kind="stable"), 15)
    return float(sum(len(b) * abs(p[b].mean() - y[b].mean()) for b in bins) / len(p))


@given_patiently(held_outs())
def test_probabilities_never_contradict_the_order_by_score(held_out: HeldOut) -> None:
    calibration = Calibration.fit(held_out)
    grid = np.linspace(-30, 30, 301, dtype=np.float32)[:, None] * np.ones(held_out.n_labels)
    likely = calibration.probabilities(grid.astype(np.float32))
    assert likely.dtype == np.float32
    assert (np.diff(likely, axis=0) >= 0).all()
    assert ((likely >= 0) & (likely <= 1)).all()


def test_isotonic_labels_rise_too_and_few_pairs_give_the_same_numbers() -> None:
    scores, truth = drawn(2000, seed=1)
    calibration = Calibration.fit(HeldOut.of(scores, csr_array(truth)))
    assert 0 < (np.diff(calibration.offsets) > 0).sum() < 20
    ordered = np.sort(drawn(500, seed=2)[0], axis=0)
    ordered[0] = -np.inf
    many = calibration.probabilities(ordered)
    assert (np.diff(many, axis=0) >= 0).all()
    assert (many[0] == 0).all()
    rows, labels = np.divmod(np.arange(many.size), 20)
    few = calibration.probability(labels, ordered[rows, labels])
    np.testing.assert_array_equal(few, many[rows, labels])


def test_probabilities_of_unseen_documents_are_nearly_right() -> None:
    calibration = Calibration.fit(HeldOut.of(*map(_as_input, drawn(3000, seed=3))))
    scores, truth = drawn(3000, seed=4)
    assert error(calibration.probabilities(scores), truth) < 0.03
    assert error(sigmoid(scores.astype(np.float64)), truth) > 0.1


def test_a_rare_label_takes_the_pooled_curve() -> None:
    scores, truth = drawn(2000, seed=5, rarest=-5)
    truth[:, 0] = False
    truth[np.argsort(scores[:, 0])[1500], 0] = True  # one positive, at no remarkable place
    slopes = Calibration.fit(HeldOut.of(scores, csr_array(truth))).slopes
    assert 0.6 < slopes[0] / np.median(slopes) < 1.2


def test_sparse_scores_calibrate_like_dense_ones_without_a_score() -> None:
    scores, truth = drawn(400, seed=6)
    scores[scores < 0] = -np.inf
    rows, columns = np.nonzero(scores > -np.inf)
    stored = csc_array((scores[rows, columns], (rows, columns)), scores.shape)
    dense = Calibration.fit(HeldOut.of(scores, csr_array(truth)))
    sparse = Calibration.fit(HeldOut.of(stored, csr_array(truth)))
    for name, array in dense.state().arrays.items():
        np.testing.assert_allclose(sparse.state().arrays[name], array)


def test_a_calibration_comes_back_equal_from_its_state() -> None:
    scores, truth = drawn(600, seed=7)
    calibration = Calibration.fit(HeldOut.of(scores, csr_array(truth)))
    again = Calibration.from_state(calibration.state())
    np.testing.assert_array_equal(again.probabilities(scores), calibration.probabilities(scores))


def test_isotonic_regression_is_the_nearest_rising_curve() -> None:
    random = np.random.default_rng(0)
    documents = random.integers(1, 5, 40).astype(np.float64)
    marked = np.minimum(documents, random.integers(0, 5, 40))
    scores = np.arange(40.0)
    knots, shares = isotonic_curve(scores, documents, marked)
    assert (np.diff(knots) > 0).all()
    assert (np.diff(shares) > 0).all()
    assert knots[0] >= 0
    assert knots[-1] <= 39


def _as_input(array: np.ndarray) -> object:
    return csr_array(array) if array.dtype == np.bool_ else array


def test_the_unit_of_the_scores_does_not_matter() -> None:
    scores, truth = drawn(800, seed=8)
    expected = Calibration.fit(HeldOut.of(scores, csr_array(truth))).probabilities(scores)
    for factor in (0.01, 64.0):
        scaled = scores * np.float32(factor)
        found = Calibration.fit(HeldOut.of(scaled, csr_array(truth))).probabilities(scaled)
        np.testing.assert_allclose(found, expected, atol=2e-4)
