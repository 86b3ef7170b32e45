"""The block solver reaches LIBLINEAR's optimum, and its short cuts change nothing that matters."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.folds import Folds
from app.learners.base import Fitting
from app.learners.linear.block_rows import BlockRows
from app.learners.linear.block_training import train_blocks
from app.learners.linear.label_training import train_labels
from app.learners.linear.options import LinearOptions, parse_options
from app.learners.linear.problem import LinearProblem
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold, out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from tests.learners.made_up import made_up

FEATURES, TRUTH = made_up(250, 18)
PLAIN_FEATURES, PLAIN_TRUTH = made_up(60, 3)


def objectives(
    learner: OneVsRest, features: Any, truth: Any, options: LinearOptions, factor: float = 1.0
) -> NDArray[np.float64]:
    """Each label's ½‖w‖² + Σ cost · loss, the bias regularised like any weight."""
    n_features, n_labels = features.shape[1], truth.shape[1]
    columns = np.arange(n_features)
    weights = np.stack([learner.weights.of_label(columns, i) for i in range(n_labels)], axis=1)
    bias = learner.weights.bias.astype(np.float64)
    signs = np.where(truth.toarray(), 1.0, -1.0)
    margins = signs * (features @ weights.astype(np.float64) + bias)
    loss = {
        1: np.maximum(0, 1 - margins) ** 2,
        3: np.maximum(0, 1 - margins),
        7: np.logaddexp(0, -margins),
    }[options.solver]
    costs = options.cost * np.where(truth.toarray(), factor, 1.0)
    squares = (weights.astype(np.float64) ** 2).sum(axis=0)
    if options.bias:
        squares += (bias / options.bias) ** 2
    found: NDArray[np.float64] = 0.5 * squares + (costs * loss).sum(axis=0)
    return found


@pytest.mark.parametrize("solver", [1, 3, 7])
@pytest.mark.parametrize("rest", ["-c 1 -B 1", "-c 0.05 -B -1", "-c 20 -B 2"])
@pytest.mark.parametrize("factor", [1.0, 6.0])
def test_the_gap_is_no_wider_than_liblinears(solver: int, rest: str, factor: float) -> None:
    options = parse_options(f"-s {solver} {rest}")
    costs = np.full(18, factor)

    def objective(name: str, more: str = "") -> NDArray[np.float64]:
        learner = OneVsRest(f"-s {solver} {rest} {more}", name, 0, costs=costs)
        return objectives(learner.fit(FEATURES, TRUTH), FEATURES, TRUTH, options, factor)

    best = objective("liblinear", "-e 1e-7")
    ours, theirs = objective("block") / best - 1, objective("liblinear") / best - 1
    assert ours.mean() <= max(theirs.mean(), 1e-6)
    assert ours.max() <= max(2 * theirs.max(), 1e-5)


@pytest.mark.parametrize("solver", [1, 3, 7])
def test_at_a_fine_tolerance_weights_are_liblinears(solver: int) -> None:
    options = parse_options(f"-s {solver} -e 1e-4")
    problem = LinearProblem.of(FEATURES, TRUTH, options)
    ours = train_blocks(problem, Fitting()).scores(FEATURES)
    theirs = train_labels(problem, Fitting()).scores(FEATURES)
    np.testing.assert_allclose(ours, theirs, atol=0.02)


@pytest.mark.parametrize("solver", [1, 3, 7])
def test_without_a_compiler_the_blocks_give_the_same_weights(
    solver: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = OneVsRest(f"-s {solver} -e 1e-3", "block", 0)
    compiled = learner.fit(PLAIN_FEATURES, PLAIN_TRUTH).scores(PLAIN_FEATURES)
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    plain = learner.fit(PLAIN_FEATURES, PLAIN_TRUTH).scores(PLAIN_FEATURES)
    np.testing.assert_allclose(compiled, plain, atol=5e-3)


@pytest.mark.parametrize("solver", [1, 7])
def test_out_of_fold_scores_are_those_of_separate_trainings(solver: int) -> None:
    folds = stratified_folds(TRUTH, 3, 0)
    learner = OneVsRest(f"-s {solver} -e 1e-3", "block", 0)
    fitted, held_out = fit_with_out_of_fold(learner, FEATURES, TRUTH, folds, Fitting())
    apart = out_of_fold(
        lambda: OneVsRest(f"-s {solver} -e 1e-3", "block", 0), FEATURES, TRUTH, folds, Fitting()
    )
    np.testing.assert_allclose(held_out.scores, apart.scores, atol=0.05)
    alone = OneVsRest(f"-s {solver} -e 1e-3", "block", 0).fit(FEATURES, TRUTH)
    assert np.array_equal(alone.scores(FEATURES), fitted.scores(FEATURES))


def test_out_of_fold_scores_are_the_same_in_chunks_of_any_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folds = stratified_folds(TRUTH, 3, 0)

    def make() -> OneVsRest:
        return OneVsRest(solver="block")

    whole = out_of_fold(make, FEATURES, TRUTH, folds, Fitting())
    monkeypatch.setattr("app.learners.out_of_fold.fitting.DOCUMENTS_AT_ONCE", 7)
    assert np.array_equal(out_of_fold(make, FEATURES, TRUTH, folds, Fitting()).scores, whole.scores)
    assert np.isfinite(whole.scores).all()


def test_out_of_fold_scores_are_the_same_for_any_number_of_jobs() -> None:
    folds = stratified_folds(TRUTH, 4, 0)
    scores = [
        fit_with_out_of_fold(OneVsRest(solver="block"), FEATURES, TRUTH, folds, Fitting(jobs=jobs))[
            1
        ]
        for jobs in (1, 2)
    ]
    assert np.array_equal(scores[0].scores, scores[1].scores)


def test_a_label_whose_documents_share_a_fold_scores_its_constant_there() -> None:
    dense = np.zeros((250, 2), bool)
    dense[:30, 0] = True
    dense[[200, 210], 1] = True
    folds = Folds((np.arange(250) >= 190).astype(np.int32))
    truth = type(TRUTH)(dense)
    for solver in ("block", "liblinear"):
        _, held_out = fit_with_out_of_fold(
            OneVsRest(solver=solver), FEATURES, truth, folds, Fitting()
        )
        assert (held_out.scores[190:, 1] == -1).all()
        assert len(np.unique(held_out.scores[:190, 1])) > 10


def test_features_of_one_document_alone_get_their_weights_too() -> None:
    rows = BlockRows.of(FEATURES[:20], 1.0)
    counts = np.bincount(FEATURES[:20].indices, minlength=60)
    assert sorted(rows.singletons.features) == np.flatnonzero(counts == 1).tolist()
    options = parse_options("-s 1 -e 1e-4")
    problem = LinearProblem.of(FEATURES[:20], TRUTH[:20, :4], options)
    ours, theirs = train_blocks(problem, Fitting()), train_labels(problem, Fitting())
    for label in range(4):
        every = np.arange(60)
        np.testing.assert_allclose(
            ours.of_label(every, label), theirs.of_label(every, label), atol=0.01
        )


def test_pruned_weights_are_gone_and_all_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    unpruned = OneVsRest(prune=2).fit(FEATURES, TRUTH)
    monkeypatch.setattr("app.learners.one_vs_rest.PRUNED_FROM", 0)
    whole = OneVsRest(prune=0).fit(FEATURES, TRUTH)
    pruned = OneVsRest(prune=2).fit(FEATURES, TRUTH)
    cut = 2 / (np.abs(FEATURES.data).sum() / 250)
    for label in range(18):
        before = whole.weights.of_label(np.arange(60), label)
        after = pruned.weights.of_label(np.arange(60), label)
        assert np.array_equal(after, np.where(np.abs(before) > cut, before, 0))
    assert np.array_equal(whole.weights.bias, pruned.weights.bias)
    assert np.array_equal(whole.scores(FEATURES), unpruned.scores(FEATURES))


def test_by_default_no_weight_is_dropped_that_counts_for_more_than_0_12_in_an_average_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = OneVsRest(prune=0).fit(FEATURES, TRUTH).weights.matrix().toarray()
    monkeypatch.setattr("app.learners.one_vs_rest.PRUNED_FROM", 0)
    pruned = OneVsRest().fit(FEATURES, TRUTH).weights.matrix().toarray()
    cut = 0.12 / (np.abs(FEATURES.data).sum() / FEATURES.shape[0])
    assert (np.abs(whole) <= cut).any()
    assert np.array_equal(pruned != 0, np.abs(whole) > cut)


def test_folds_end_near_their_optimum_at_the_default_tolerance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folds = stratified_folds(TRUTH, 3, 0)
    exact = out_of_fold(lambda: OneVsRest("-s 1 -e 1e-4"), FEATURES, TRUTH, folds, Fitting())
    monkeypatch.setattr("app.learners.one_vs_rest.SMALL", 0)  # the tolerance as it was asked for
    _, held_out = fit_with_out_of_fold(OneVsRest(), FEATURES, TRUTH, folds, Fitting())
    deviation = np.sqrt(np.mean((held_out.scores - exact.scores) ** 2))
    assert deviation < 0.02


def test_small_problems_are_solved_more_finely_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def tolerance(learner: OneVsRest) -> float:
        return learner.problem(FEATURES, TRUTH).options.tolerance

    assert tolerance(OneVsRest(solver="block")) == 1e-3
    assert tolerance(OneVsRest("-s 1 -e 0.0002", solver="block")) == 2e-4
    assert tolerance(OneVsRest(solver="liblinear")) == 0.1
    monkeypatch.setattr("app.learners.one_vs_rest.SMALL", FEATURES.nnz * 18 - 1)
    assert tolerance(OneVsRest(solver="block")) == 0.1


def test_progress_ends_at_the_number_of_labels() -> None:
    seen: list[tuple[str, int, int]] = []
    fitting = Fitting(progress=lambda *step: seen.append(step))
    OneVsRest().fit(FEATURES, TRUTH, fitting)
    assert seen[-1] == ("train", 18, 18)


def test_some_labels_are_pruned_as_all_of_them_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.learners.one_vs_rest.PRUNED_FROM", 60 * 10)
    every = OneVsRest().fit(FEATURES, TRUTH)
    some = every.for_labels(np.arange(4)).fit(FEATURES, TRUTH[:, :4])
    assert some.problem(FEATURES, TRUTH[:, :4]).cut == every.problem(FEATURES, TRUTH).cut > 0
    assert OneVsRest().problem(FEATURES, TRUTH[:, :4]).cut == 0
    np.testing.assert_allclose(some.scores(FEATURES), every.scores(FEATURES)[:, :4], atol=0.05)
