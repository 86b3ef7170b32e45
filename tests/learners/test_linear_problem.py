"""What linear solvers are given: labels that can be learnt, and where weights are cut."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.learners.linear.options import parse_options
from app.learners.linear.problem import LinearProblem, constant_scores, cut_for, mean_sum
from tests.learners.made_up import marks

ROWS = csr_array(np.array([[3.0, -4.0], [0.0, 0.0], [0.0, 5.0], [-5.0, 0.0]], np.float32))


def test_labels_that_some_have_and_some_lack_are_learnt_the_most_frequent_first() -> None:
    truth = np.zeros((4, 5), bool)
    truth[0, 0] = truth[:3, 2] = truth[:, 3] = truth[2:, 4] = True
    problem = LinearProblem.of(ROWS, marks(truth), parse_options(""))
    assert problem.learnable().tolist() == [2, 4, 0]
    assert problem.positives(4).tolist() == [2, 3]


def test_weights_are_cut_lower_where_documents_are_longer() -> None:
    # the root mean square of the lengths 5, 0, 5 and 5 is √(75 / 4)
    assert cut_for(ROWS, 0.1) == pytest.approx(0.1 / np.sqrt(75 / 4))
    assert cut_for(csr_array((3, 2), dtype=np.float32), 0.1) == 0


def test_the_mean_sum_of_documents_has_no_signs_and_is_1_where_all_are_empty() -> None:
    assert mean_sum(ROWS) == pytest.approx((7 + 0 + 5 + 5) / 4)
    assert mean_sum(csr_array((3, 2), dtype=np.float32)) == 1


def test_constant_labels_score_the_margin_or_the_log_odds_of_half_a_document() -> None:
    everywhere = np.array([True, False])
    assert constant_scores(everywhere, 10, parse_options("-s 1")).tolist() == [1, -1]
    log_odds = constant_scores(everywhere, 10, parse_options("-s 7"))
    np.testing.assert_allclose(log_odds, [np.log(10.5 / 0.5), -np.log(10.5 / 0.5)], rtol=1e-6)
