"""Costs are chosen on equal folds, per label or for all, and then used for all documents."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.folds import Folds
from app.learners.base import Fitting, learner_class
from app.learners.cost_sensitive import GRID, CostSensitive, CostSensitiveMicro
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold


def data(n_documents: int = 240) -> tuple[csr_array, csr_array]:
    """A frequent label that is easy at cost 1, and a rare, noisy one that needs more."""
    random = np.random.default_rng(0)
    features = random.standard_normal((n_documents, 8)).astype(np.float32)
    noise = random.standard_normal((n_documents, 2))
    noise[:, 0] *= 0.1
    truth = features[:, :2] + 1.2 * noise > [0.0, 2.4]
    return csr_array(features), csr_array(truth)


@pytest.mark.parametrize("kind", ["cost-sensitive", "cost-sensitive-micro"])
def test_the_chosen_costs_are_those_the_final_weights_were_trained_with(kind: str) -> None:
    features, truth = data()
    learner = learner_class(kind)(solver="liblinear").fit(features, truth, Fitting(seed=1))
    same = OneVsRest(solver="liblinear", costs=learner.costs).fit(features, truth, Fitting(seed=1))
    np.testing.assert_array_equal(learner.scores(features), same.scores(features))
    again = learner_class(kind).from_state(learner.state())
    np.testing.assert_array_equal(again.scores(features), learner.scores(features))
    assert set(learner.costs) <= set(GRID)


def test_held_out_scores_come_from_the_same_costs() -> None:
    features, truth = data()
    folds = Folds(np.arange(truth.shape[0], dtype=np.int32) % 3)
    learner = CostSensitive()
    held_out = learner.fit_with_held_out(features, truth, folds, Fitting())
    again = OneVsRest(costs=learner.costs)
    _, expected = fit_with_out_of_fold(again, features, truth, folds, Fitting())
    np.testing.assert_array_equal(held_out.scores, expected.scores)
    np.testing.assert_array_equal(learner.scores(features), again.scores(features))


def test_each_label_has_its_own_cost_but_micro_has_one_for_all() -> None:
    features, truth = data()
    own = CostSensitive(solver="liblinear").fit(features, truth).costs
    assert own[1] > own[0]
    shared = CostSensitiveMicro(solver="liblinear").fit(features, truth).costs
    assert len(set(shared)) == 1


def test_the_first_cost_wins_among_equals() -> None:
    counts = np.zeros((len(GRID), 2, 3), np.int64)
    counts[:, 0] = [1, 1, 0]
    counts[3:, 1] = [4, 1, 1]
    assert CostSensitive()._choose(counts).tolist() == [0, 3]
    assert CostSensitiveMicro()._choose(counts).tolist() == [3, 3]


def test_the_seed_deals_the_documents_to_the_folds_that_costs_are_tried_on() -> None:
    features, truth = data(90)
    counts = [CostSensitive()._tried(features, truth, Fitting(seed=seed)) for seed in range(4)]
    assert any(not np.array_equal(counts[0], other) for other in counts[1:])
    again = CostSensitive()._tried(features, truth, Fitting(seed=0))
    np.testing.assert_array_equal(counts[0], again)
