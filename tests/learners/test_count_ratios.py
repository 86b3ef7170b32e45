"""Count ratios in the block solver: LIBLINEAR's classifiers of features multiplied with them."""

from math import log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features
from app.errors import InvalidRequestError
from app.folds import Folds
from app.kernels.solver.types import LANES, SQUARED_HINGE, block_of
from app.learners.base import Fitting
from app.learners.linear.block_rows import BlockRows
from app.learners.linear.count_ratios import count_ratios
from app.learners.linear.liblinear import LiblinearProblem
from app.learners.linear.options import parse_options
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold, out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from tests.learners.made_up import made_up

FEATURES, TRUTH = made_up(250, 18)
FINE = "-e 1e-4"


def literal_ratios(features: Features, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """|log((p / |p|) / (q / |q|))| of every column, as the paper has it; unseen columns are out."""
    presence = (features.toarray() != 0).astype(float)
    seen = presence.any(axis=0)
    p, q = (1 + presence[rows].sum(axis=0) for rows in (is_positive, ~is_positive))
    ratios: NDArray[np.float64] = np.abs(np.log((p / p[seen].sum()) / (q / q[seen].sum())))
    return ratios


def literal_weights(
    features: Features, is_positive: NDArray[np.bool_], options: str, power: float
) -> tuple[NDArray[np.float64], float]:
    """LIBLINEAR's weights of the scaled features, multiplied with the scales; and its bias."""
    scales = literal_ratios(features, is_positive) ** power
    scaled = csr_array(features.multiply(scales[None, :])).astype(np.float32)
    marks = np.where(is_positive, 1.0, -1.0)
    parsed = parse_options(f"{options} -e 1e-6")
    weights, classes = LiblinearProblem(scaled, parsed.bias).train(marks, parsed)
    column = weights[:, 0] * classes[0]
    return column[:-1] * scales, float(column[-1])


def test_ratios_of_three_documents_are_those_on_paper() -> None:
    """a, b | a, c | a, c: the first has the label. b is a feature of one document alone."""
    dense = np.array([[1, 2, 0], [1, 0, 1], [1, 0, 3]], np.float32)
    rows, every = BlockRows.of(csr_array(dense), 1.0), np.arange(3)
    block = block_of(np.array([1, 0, 0], np.uint16), np.ones(1), np.ones(1), SQUARED_HINGE)
    (ratios,) = count_ratios(rows, [every], 0.5)
    scales = ratios.scaled(block).scales
    # p = (2, 2, 1) of 5, q = (3, 1, 3) of 7
    a, b, c = log(2 / 5 * 7 / 3), log(2 / 5 * 7 / 1), -log(1 / 5 * 7 / 3)
    squares = scales.squares.reshape(-1, LANES)[:, 0]
    assert dict(zip(rows.kept.tolist(), squares.tolist(), strict=True)) == pytest.approx(
        {0: abs(a), 2: c}, rel=1e-6
    )
    assert scales.singleton_squares.reshape(2, LANES)[1, 0] == pytest.approx(b, rel=1e-6)
    norms = scales.norms.reshape(-1, LANES)[:, 0]
    expected = [abs(a) + 4 * b + 1, abs(a) + c + 1, abs(a) + 9 * c + 1]
    np.testing.assert_allclose(norms, expected, rtol=1e-6)


@pytest.mark.parametrize("options", ["-s 1 -c 2", "-s 3", "-s 7 -c 4", "-s 1 -w1 3"])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_weights_are_liblinears_of_scaled_features_times_the_scales(
    options: str, power: float
) -> None:
    for features, truth in ((FEATURES, TRUTH), (FEATURES[:20], TRUTH[:20, :4])):
        learner = OneVsRest(f"{options} {FINE}", prune=0, ratios=power).fit(features, truth)
        weights, marks = learner.weights.matrix().toarray(), truth.toarray()
        for label in range(truth.shape[1]):
            expected, bias = literal_weights(features, marks[:, label], options, power)
            np.testing.assert_allclose(weights[:, label], expected, atol=0.05)
            scores = learner.scores(features)[:, label]
            np.testing.assert_allclose(scores, features @ expected + bias, atol=0.05)


def test_no_power_is_no_ratio() -> None:
    plain = OneVsRest(FINE).fit(FEATURES, TRUTH)
    assert np.array_equal(
        OneVsRest(FINE, ratios=0).fit(FEATURES, TRUTH).scores(FEATURES), plain.scores(FEATURES)
    )
    scaled = OneVsRest(FINE, ratios=0.5).fit(FEATURES, TRUTH)
    assert np.abs(scaled.scores(FEATURES) - plain.scores(FEATURES)).max() > 0.1


@pytest.mark.parametrize("solver", [1, 3, 7])
def test_out_of_fold_scores_are_those_of_trainings_without_the_fold(solver: int) -> None:
    """Ratios counted over all documents, held-out ones included, would be off by far more."""
    folds, options = stratified_folds(TRUTH, 3, 0), f"-s {solver} -e 1e-4"

    def make() -> OneVsRest:
        return OneVsRest(options, prune=0, ratios=1.0)

    _, held_out = fit_with_out_of_fold(make(), FEATURES, TRUTH, folds, Fitting())
    apart = out_of_fold(make, FEATURES, TRUTH, folds, Fitting())
    np.testing.assert_allclose(held_out.scores, apart.scores, atol=0.02)


def test_labels_of_held_out_documents_change_no_score_of_theirs() -> None:
    folds = Folds((np.arange(250) >= 190).astype(np.int32))
    turned = TRUTH.toarray()
    turned[190:] = ~turned[190:]
    scores = [
        fit_with_out_of_fold(OneVsRest(FINE, ratios=1.0), FEATURES, truth, folds, Fitting())[1]
        for truth in (TRUTH, type(TRUTH)(turned))
    ]
    np.testing.assert_allclose(scores[0].scores[190:], scores[1].scores[190:], atol=0.02)


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_jobs_gives_the_same_bits(jobs: int) -> None:
    folds = stratified_folds(TRUTH, 3, 0)
    results = [
        fit_with_out_of_fold(OneVsRest(ratios=0.5), FEATURES, TRUTH, folds, Fitting(jobs=own))
        for own in (1, jobs)
    ]
    assert np.array_equal(results[0][1].scores, results[1][1].scores)
    assert np.array_equal(results[0][0].scores(FEATURES), results[1][0].scores(FEATURES))


def test_without_a_compiler_scores_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    features, truth = made_up(60, 3)
    folds = stratified_folds(truth, 2, 0)

    def scores() -> Any:
        learner = OneVsRest("-e 1e-3", ratios=0.5)
        fitted, held_out = fit_with_out_of_fold(learner, features, truth, folds, Fitting())
        return np.concatenate([fitted.scores(features), held_out.scores])

    compiled = scores()
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    np.testing.assert_allclose(compiled, scores(), atol=5e-3)


def test_some_labels_are_learnt_with_their_ratios_too() -> None:
    every = OneVsRest(FINE, prune=0, ratios=0.5).fit(FEATURES, TRUTH)
    some = every.for_labels(np.arange(4)).fit(FEATURES, TRUTH[:, :4])
    np.testing.assert_allclose(some.scores(FEATURES), every.scores(FEATURES)[:, :4], atol=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ratios": -0.5},
        {"ratios": 3.0},
        {"ratios": 0.5, "solver": "liblinear"},
        {"ratios": 0.5, "options": "-s 2"},
        {"ratios": 0.5, "options": "-s 1 -e 1e-7"},
    ],
    ids=str,
)
def test_what_blocks_cannot_train_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"block|power"):
        OneVsRest(**wrong)
