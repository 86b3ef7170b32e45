"""Weights are LIBLINEAR's own, for every solver, and its options mean what they say."""

import ctypes

import numpy as np
import pytest
from liblinear import liblinearutil
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from app.errors import InvalidDataError, InvalidRequestError
from app.learners.base import Fitting
from app.learners.binary_and_multiclass import BinaryAndMulticlass
from app.learners.linear.options import parse_options
from app.learners.one_vs_rest import OneVsRest
from tests.learners.made_up import made_up, marks, one_label_each

FEATURES, TRUTH = made_up(120, 3)
WITH_BIAS = csr_matrix(hstack([FEATURES, np.full((120, 1), 1.0)]))


def directly(
    features: csr_matrix, target: NDArray[np.float64], options: str
) -> NDArray[np.float64]:
    ctypes.CDLL(None).srand(0)  # the random order in which it visits documents
    problem = liblinearutil.problem(target, features)
    model = liblinearutil.train(problem, liblinearutil.parameter(f"{options} -q"))
    columns = 1 if model.nr_class == 2 and "-s 4" not in options else model.nr_class
    flat = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,))
    weights = flat.reshape(-1, columns).copy()
    return weights if columns == 1 else weights[:, np.argsort(model.get_labels())]


@pytest.mark.parametrize("solver", [0, 1, 2, 3, 5, 6, 7])
def test_weights_equal_those_of_liblinear_called_directly(solver: int) -> None:
    options = f"-s {solver} -c 2 -e 1e-6"
    learner = OneVsRest(f"{options} -B 1", "liblinear", prune=0).fit(FEATURES, TRUTH)
    for label in range(3):
        target = np.where(TRUTH.toarray()[:, label], 1.0, -1.0)
        expected = directly(WITH_BIAS, target, options).ravel()
        found = learner.weights.of_label(np.arange(60), label)
        np.testing.assert_allclose(found, expected[:-1], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(learner.weights.bias[label], expected[-1], rtol=1e-6)


@pytest.mark.parametrize("solver", [0, 1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("n_labels", [2, 4])
def test_exclusive_labels_have_the_weights_of_liblinear(solver: int, n_labels: int) -> None:
    features, truth = one_label_each(120, n_labels)
    learner = BinaryAndMulticlass(f"-s {solver} -e 1e-6").fit(features, truth)
    target = truth.indices.astype(np.float64)
    with_bias = csr_matrix(hstack([features, np.ones((120, 1))]))
    expected = directly(with_bias, target, f"-s {solver} -e 1e-6")
    if expected.shape[1] == 1:
        sign = 1 if target[0] == 0 else -1  # LIBLINEAR's first class is the first document's
        expected = np.hstack([sign * expected, -sign * expected])
    scores = learner.scores(features)
    np.testing.assert_allclose(scores, with_bias @ expected, atol=1e-5)


def test_without_a_bias_an_empty_document_scores_zero() -> None:
    learner = OneVsRest("-s 2 -B -1").fit(FEATURES, TRUTH)
    assert (learner.weights.bias == 0).all()


def test_the_size_of_the_bias_feature_matters() -> None:
    small, large = (OneVsRest(f"-s 2 -B {b}").fit(FEATURES, TRUTH) for b in (0.01, 10))
    assert np.abs(small.weights.bias).max() < np.abs(large.weights.bias).max()


@pytest.mark.parametrize("solver", ["block", "liblinear"])
def test_costs_of_positives_equal_liblinears_class_weights(solver: str) -> None:
    by_option = OneVsRest("-s 1 -e 1e-3 -w1 6", solver).fit(FEATURES, TRUTH)
    by_label = OneVsRest("-s 1 -e 1e-3", solver, costs=np.full(3, 6.0)).fit(FEATURES, TRUTH)
    assert np.array_equal(by_option.scores(FEATURES), by_label.scores(FEATURES))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_nearly_the_same() -> None:
    fits = [
        OneVsRest("-s 1", "liblinear").fit(FEATURES, TRUTH, Fitting(seed=seed)).scores(FEATURES)
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])
    np.testing.assert_allclose(fits[0], fits[2], atol=0.2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-R", "bias"),
        ("-C", "search"),
        ("-v 5", "out-of-fold"),
        ("-m 4", "--jobs"),
        ("-s 4", "accepted here: 0, 1, 2, 3, 5, 6, 7"),
        ("-s 11", "accepted here"),
        ("-x 1", "accepted: -s -c"),
        ("-c", "needs a value"),
        ("-c many", "needs a number"),
        ("-c 0", "above 0"),
        ("-e nan", "above 0"),
        ("-wx 1", "needs a number"),
        ("stray 1", "accepted"),
    ],
)
def test_options_that_make_no_sense_here_are_refused(options: str, says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        parse_options(options)


def test_an_unknown_solver_name_lists_the_known() -> None:
    with pytest.raises(InvalidRequestError, match="auto, block, liblinear"):
        OneVsRest(solver="fast")


def test_the_block_solver_says_what_it_can_take() -> None:
    with pytest.raises(InvalidRequestError, match="-s 1, -s 3, -s 7"):
        OneVsRest("-s 2", "block")


def test_two_labels_on_a_document_are_refused_where_labels_exclude_one_another() -> None:
    truth = marks(np.array([[True, False], [True, True]]))
    with pytest.raises(InvalidDataError, match=r"document 2 .* 2 labels"):
        BinaryAndMulticlass().fit(FEATURES[:2], truth)


def test_a_label_without_training_documents_is_never_predicted() -> None:
    features, truth = one_label_each(60, 3)
    wider = marks(np.hstack([truth.toarray(), np.zeros((60, 1), bool)]))
    scores = BinaryAndMulticlass("-s 4").fit(features, wider).scores(features)
    assert (scores[:, 3] == -np.inf).all()
