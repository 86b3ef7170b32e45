"""C by held-out documents: the one with the highest micro-F1 at its own best cuts."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.linear import c_choice
from app.learners.linear.c_choice import GRID, best_cuts, chosen_c, sampled
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold, out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from tests.learners.made_up import made_up, marks

FEATURES, TRUTH = made_up(250, 18)


def noisy(share: float) -> Any:
    """The truth with a share of the marks turned: the noisier, the smaller the best C."""
    turned = np.random.default_rng(1).random(TRUTH.shape) < share
    return marks(TRUTH.toarray() ^ turned)


def literal_f1(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    """The highest micro-F1 of any cuts, found by trying them all."""
    cuts = [[*column, np.inf] for column in scores.T]
    best = 0.0
    for tried in product(*cuts):
        decided = scores >= np.array(tried)
        best = max(best, 2 * np.sum(decided & truth) / max(np.sum(decided) + np.sum(truth), 1))
    return float(best)


def priced_f1(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    """The same by prices, label by label, as the choice of C has it."""
    found = [best_cuts(scores[:, i], truth[:, i]) for i in range(truth.shape[1])]
    right, decided = np.sum(found, axis=0)
    return float(np.max(2 * right / np.maximum(decided + truth.sum(), 1)))


def test_at_a_low_price_more_is_decided() -> None:
    scores, is_true = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, False, True])
    right, decided = best_cuts(scores, is_true)
    assert (right[49], decided[49]) == (2, 4)  # 4 − .5 · 4 beside 2 − .5 · 1
    assert (right[98], decided[98]) == (1, 1)  # 4 − .99 · 4 beside 2 − .99 · 1
    assert best_cuts(scores, is_true & False)[1].tolist() == [0] * 99


def test_prices_find_the_best_cuts_of_all() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        truth = random.random((7, 3)) < 0.4
        scores = (truth + random.normal(scale=0.8, size=(7, 3))).astype(np.float32)
        assert priced_f1(scores, truth) == pytest.approx(literal_f1(scores, truth), abs=1e-9)


@pytest.mark.parametrize("solver", [1, 3, 7])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_choice_is_that_of_a_training_for_every_c_and_fold(solver: int, share: float) -> None:
    options, truth = f"-s {solver} -e 1e-3", noisy(share)
    folds = stratified_folds(truth, 3, 0)
    f1 = []
    for c in GRID:
        held_out = out_of_fold(
            lambda c=c: OneVsRest(options, prune=0, c=c), FEATURES, truth, folds, Fitting()
        )
        f1.append(priced_f1(held_out.scores, truth.toarray()))
    learner = OneVsRest(options, prune=0, c="auto")
    chosen = chosen_c(learner.problem(FEATURES, truth), Fitting())
    assert f1[GRID.index(chosen.cost)] == pytest.approx(max(f1), abs=0.003)
    assert max(f1) - min(f1) > 0.006


def test_noise_makes_c_smaller() -> None:
    clean, noise = (
        OneVsRest(c="auto").fit(FEATURES, truth).state().settings["c"]
        for truth in (TRUTH, noisy(0.2))
    )
    assert noise < clean


@pytest.mark.parametrize("settings", [{}, {"ratios": 0.5}, {"options": "-s 7 -c 3"}])
def test_what_is_learnt_is_what_the_chosen_c_learns(settings: dict[str, Any]) -> None:
    folds = stratified_folds(TRUTH, 3, 0)
    learner, held_out = fit_with_out_of_fold(
        OneVsRest(**settings, c="auto"), FEATURES, TRUTH, folds, Fitting()
    )
    chosen = learner.state().settings["c"]
    assert chosen in GRID
    same, same_held_out = fit_with_out_of_fold(
        OneVsRest(**settings, c=chosen), FEATURES, TRUTH, folds, Fitting()
    )
    assert np.array_equal(learner.scores(FEATURES), same.scores(FEATURES))
    assert np.array_equal(held_out.scores, same_held_out.scores)
    again = learner.for_labels(np.arange(3))
    assert isinstance(again, OneVsRest)
    assert again.c == chosen


def test_a_c_stands_in_for_that_of_the_options() -> None:
    by_option = OneVsRest("-s 1 -c 4").fit(FEATURES, TRUTH)
    by_setting = OneVsRest("-s 1 -c 1", c=4).fit(FEATURES, TRUTH)
    assert np.array_equal(by_option.scores(FEATURES), by_setting.scores(FEATURES))


def test_any_number_of_jobs_chooses_alike() -> None:
    problem = OneVsRest(c="auto").problem(FEATURES, noisy(0.1))
    assert len({chosen_c(problem, Fitting(jobs=jobs)) for jobs in (1, 2, 3)}) == 1


def test_too_few_documents_or_no_label_to_learn_leave_c_at_one() -> None:
    for features, truth in (
        (FEATURES[:2], TRUTH[:2]),
        (FEATURES, marks(np.zeros((250, 2), np.bool_))),
    ):
        learner = OneVsRest(c="auto").fit(features, truth)
        assert learner.state().settings["c"] == 1.0
        assert learner.problems_of_fit(18) == 18


def test_a_large_problem_is_tried_on_some_labels_and_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = OneVsRest().problem(FEATURES, TRUTH)
    assert sampled(problem, 0) is problem
    monkeypatch.setattr(c_choice, "MOST_WORK", FEATURES.nnz * 3)
    monkeypatch.setattr(c_choice, "FEWEST_LABELS", 6)
    some = sampled(problem, 0)
    assert (some.n_documents, some.truth.shape[1], len(some.costs)) == (125, 6, 6)
    assert some.features.shape == (125, 60)
    assert np.array_equal(some.features.toarray(), sampled(problem, 0).features.toarray())
    assert chosen_c(problem, Fitting()).cost in GRID
    assert chosen_c(problem, Fitting()).n_problems == 6 * 3 * 6


@pytest.mark.parametrize(
    "wrong", [{"c": 0}, {"c": "best"}, {"c": True}, {"c": "auto", "solver": "liblinear"}], ids=str
)
def test_a_c_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"c is a number|in blocks"):
        OneVsRest(**wrong)
