"""Rocchio, naive Bayes, LLSF and perceptrons against literal versions and scikit-learn."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from app.errors import InvalidRequestError
from app.learners.base import Fitting, Learner
from app.learners.llsf import Llsf, truncated_svd
from app.learners.naive_bayes import NaiveBayes
from app.learners.perceptron import Perceptron
from app.learners.rocchio import Rocchio
from tests.learners.made_up import made_up, marks


def dense_weights(learner: Learner, n_features: int) -> np.ndarray:
    return learner.weights.matrix().toarray()[:n_features]


def test_rocchio_by_hand() -> None:
    features = csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], np.float32))
    truth = marks(np.array([[True], [True], [False]]))
    learner = Rocchio(beta=16, gamma=4).fit(features, truth)
    # 16 · (½, ½, 0) − 4 · (0, 0, 1) = (8, 8, −4); the last is dropped, the rest has length 1.
    assert dense_weights(learner, 3)[:, 0] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0])
    assert learner.scores(features)[:, 0] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0])


@pytest.mark.parametrize(("beta", "gamma"), [(16.0, 4.0), (1.0, 1.0), (1.0, 0.0)])
def test_rocchio_is_its_definition(beta: float, gamma: float) -> None:
    features, truth = made_up(80, 6)
    x, y = features.toarray().astype(float), truth.toarray()
    expected = np.zeros((x.shape[1], y.shape[1]))
    for label in range(y.shape[1]):
        own = y[:, label]
        prototype = beta * x[own].mean(axis=0) - gamma * x[~own].mean(axis=0)
        prototype = np.maximum(prototype, 0)
        expected[:, label] = prototype / np.linalg.norm(prototype)
    learner = Rocchio(beta, gamma).fit(features, truth)
    np.testing.assert_allclose(dense_weights(learner, x.shape[1]), expected, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_the_weights_of_naive_bayes_are_those_of_scikit_learn(alpha: float) -> None:
    features, truth = made_up(120, 5)
    x, y = features.toarray(), truth.toarray()
    multinomial = NaiveBayes("multinomial", alpha).fit(features, truth)
    bernoulli = NaiveBayes("bernoulli", alpha).fit(features, truth)
    for label in range(5):
        theirs = MultinomialNB(alpha=alpha).fit(x, y[:, label]).feature_log_prob_
        own = multinomial.weights.matrix().toarray()[:, label]
        np.testing.assert_allclose(own, theirs[1] - theirs[0], atol=1e-5)
        model = BernoulliNB(alpha=alpha, fit_prior=False).fit(x > 0, y[:, label])
        jll = model.predict_joint_log_proba(x > 0)
        n = y[:, label].sum()
        prior = np.log(n + alpha) - np.log(len(y) - n + alpha)
        np.testing.assert_allclose(
            bernoulli.scores((features > 0).astype(np.float32))[:, label],
            jll[:, 1] - jll[:, 0] + prior,
            atol=1e-4,
        )


@pytest.mark.parametrize("kind", [NaiveBayes, Llsf])
def test_dense_weights_of_more_than_memory_takes_are_refused(
    kind: type[Learner], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.learners.linear.dense_weights.MOST_WEIGHTS", 100)
    with pytest.raises(InvalidRequestError, match=r"60 terms and 5 labels, at most 100"):
        kind().fit(*made_up(20, 5))


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_naive_bayes_takes_little_more_memory_than_its_weights_and_counts_blocks_alike(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, truth = made_up(300, 500, n_features=2000)
    whole = NaiveBayes(event).fit(features, truth)
    monkeypatch.setattr("app.learners.linear.dense_weights.CELLS_AT_ONCE", 2**16)
    tracemalloc.start()
    blocks = NaiveBayes(event).fit(features, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * 4 * features.shape[1] * truth.shape[1]
    np.testing.assert_allclose(blocks.scores(features), whole.scores(features), rtol=1e-5)


@pytest.mark.parametrize("settings", [{"event": "poisson"}, {"alpha": 0.0}])
def test_naive_bayes_refuses_settings_that_make_no_sense(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidRequestError, match="naive-bayes"):
        NaiveBayes(**settings)  # type: ignore[arg-type]


def test_llsf_of_full_rank_is_the_least_squares_solution() -> None:
    features, truth = made_up(120, 5)
    x, y = features.toarray().astype(float), truth.toarray().astype(float)
    expected = np.linalg.lstsq(x, y, rcond=1e-5)[0]
    learner = Llsf(rank=60).fit(features, truth)
    np.testing.assert_allclose(dense_weights(learner, 60), expected, atol=1e-3)


def test_llsf_keeps_the_largest_singular_vectors_only() -> None:
    pick = np.random.default_rng(0)
    left, _ = np.linalg.qr(pick.normal(size=(90, 40)))
    right, _ = np.linalg.qr(pick.normal(size=(50, 40)))
    x = (left * 0.7 ** np.arange(40)) @ right.T
    features, (_, truth) = csr_array(x.astype(np.float32)), made_up(90, 4)
    u, s, v = np.linalg.svd(x, full_matrices=False)
    expected = v[:6].T @ ((u[:, :6].T @ truth.toarray()) / s[:6, None])
    learner = Llsf(rank=6).fit(features, truth)
    np.testing.assert_allclose(dense_weights(learner, 50), expected, rtol=1e-3, atol=1e-3)


def test_the_svd_leaves_out_what_is_zero() -> None:
    features = csr_array(np.outer(np.arange(1, 6), np.ones(4)).astype(np.float32))
    left, values, right = truncated_svd(features, 3, 0)
    assert values == pytest.approx([np.sqrt(55 * 4)], rel=1e-5)
    assert (left.shape, right.shape) == ((5, 1), (1, 4))


def test_a_perceptron_is_the_mean_of_its_weights_after_every_step() -> None:
    features, truth = made_up(40, 19)
    x = np.hstack([features.toarray().astype(float), np.ones((40, 1))])
    learner = Perceptron(epochs=3).fit(features, truth, Fitting(seed=5))
    pick = np.random.default_rng(5)
    order = np.concatenate([pick.permutation(40) for _ in range(3)])
    for label in (0, 7, 18):
        y = np.where(truth.toarray()[:, label], 1, -1)
        w, total = np.zeros(61), np.zeros(61)
        for document in order:
            if y[document] * (w @ x[document]) <= 0:
                w = w + y[document] * x[document]
            total += w
        # The step at which a change is made counts as one after it, hence the whole of the mean.
        mean = total / len(order)
        np.testing.assert_allclose(dense_weights(learner, 60)[:, label], mean[:60], atol=2e-3)
        assert learner.weights.bias[label] == pytest.approx(mean[60], abs=1e-4)


def test_the_bernoulli_model_counts_terms_that_are_there_whatever_their_weight() -> None:
    features, truth = made_up(40, 5)
    learner = NaiveBayes("bernoulli").fit(features, truth)
    np.testing.assert_array_equal(learner.scores(features), learner.scores(features * 0.1))
    row = features[[0]]
    told = learner.contributions(row.indices, row.data, [2])
    assert told is not None
    total = told[0].weights.sum() + told[0].bias
    assert total == pytest.approx(learner.scores(row)[0, 2], abs=1e-3)
    assert learner.linear_weights() is None


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_naive_bayes_leaves_terms_out_that_no_document_of_the_fit_has(event: str) -> None:
    features, truth = made_up(40, 5)
    empty = csr_array(features.shape, dtype=np.float32)
    wider = csr_array(hstack([features, empty]))
    scores = NaiveBayes(event).fit(wider, truth).scores(wider)
    expected = NaiveBayes(event).fit(features, truth).scores(features)
    np.testing.assert_allclose(scores, expected, rtol=1e-4)


def test_naive_bayes_refuses_features_below_zero() -> None:
    features, truth = made_up(20, 5)
    with pytest.raises(InvalidRequestError, match="0 or more"):
        NaiveBayes().fit(-features, truth)
