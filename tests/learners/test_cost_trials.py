"""Costs tried in blocks are judged like costs tried one training at a time."""

import numpy as np
import pytest

from app.folds import Folds
from app.learners.base import Fitting
from app.learners.linear.cost_trials import tried_costs
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from tests.learners.made_up import made_up, marks

FEATURES, TRUTH = made_up(200, 17)
GRID = (1.0, 2.5, 6.0)


@pytest.mark.parametrize("solver", [1, 3, 7])
def test_counts_are_those_of_separate_trainings_but_for_scores_at_zero(solver: int) -> None:
    folds, options = stratified_folds(TRUTH, 3, 0), f"-s {solver} -e 1e-3"
    problem = OneVsRest(options).problem(FEATURES, TRUTH)
    counts = tried_costs(problem, GRID, folds, Fitting())
    truth = TRUTH.toarray()
    for place, cost in enumerate(GRID):

        def learner(cost: float = cost) -> OneVsRest:
            return OneVsRest(options, "block", costs=np.full(17, cost))

        decided = out_of_fold(learner, FEATURES, TRUTH, folds, Fitting()).scores > 0
        cells = (decided & truth, decided & ~truth, ~decided & truth)
        expected = np.stack([cell.sum(axis=0) for cell in cells], axis=1)
        assert np.abs(counts[place] - expected).max() <= 2
        assert (counts[place][:, [0, 2]].sum(axis=1) == truth.sum(axis=0)).all()


def test_a_label_of_all_documents_is_always_right_and_one_of_none_never_asked() -> None:
    truth = marks(np.hstack([np.ones((200, 1), bool), np.zeros((200, 1), bool)]))
    problem = OneVsRest().problem(FEATURES, truth)
    counts = tried_costs(problem, GRID, Folds(np.arange(200, dtype=np.int32) % 3), Fitting())
    assert counts[1].tolist() == [[200, 0, 0], [0, 0, 0]]
