"""What every linear learner must keep, whatever it is called; networks have their own suite."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.learners import LEARNERS
from app.learners.base import Fitting, Learner, learner_class
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.state import State
from tests.learners.made_up import made_up, marks, one_label_each

LEARNS_NOTHING = {"hand-rules"}
"""Decided by rules over the words of a text, which rows of features do not have."""
VARIANTS: dict[str, dict[str, Any]] = {
    "one-vs-rest with ratios": {"ratios": 0.5},
    "one-vs-rest with a chosen C": {"c": "auto"},
}
"""Settings that train in another way, kept to the same promises as the defaults."""
LINEAR = sorted(
    [
        kind
        for kind, place in LEARNERS.items()
        if "neural" not in place and kind not in LEARNS_NOTHING
    ]
    + list(VARIANTS)
)
EXCLUSIVE = {"binary-and-multiclass"}
WITHOUT_CHANCE = {"decision-tree", "knn", "naive-bayes", "rocchio", "svm-rbf", "word"}
NOT_LINEAR = {"decision-tree", "experts", "knn", "rules", "svm-rbf", "tree"}
EQUAL_WITHOUT_FEATURES = {"knn", "llsf", "rocchio", "word"}
"""Their scores are similarities: 0 for a document without features, whatever the label."""
MULTI_LABEL = sorted(set(LINEAR) - EXCLUSIVE)


@pytest.fixture(params=["auto", "plain"], autouse=True)
def with_and_without_a_compiler(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)
    if request.param == "plain":  # a hundred times slower: two costs are enough to choose from
        monkeypatch.setattr("app.learners.linear.c_choice.GRID", (0.5, 2.0))


def data_for(kind: str, n_documents: int, n_labels: int) -> tuple[Any, Any]:
    make = one_label_each if kind in EXCLUSIVE else made_up
    return make(n_documents, n_labels)


def made(kind: str) -> Learner:
    learner: Learner = learner_class(kind.partition(" with ")[0])(**VARIANTS.get(kind, {}))
    return learner


def fitted(kind: str, features: Any, truth: Any, **fitting: Any) -> Learner:
    return made(kind).fit(features, truth, fitting_of(features, truth, **fitting))


def fitting_of(features: Any, truth: Any, **fitting: Any) -> Fitting:
    """With each label's documents as what the label is called, for the learner that reads that."""
    return Fitting(label_rows=csr_array(truth.T.astype(np.float32) @ features), **fitting)


def same_state(first: State, second: State) -> bool:
    arrays = first.arrays.keys() == second.arrays.keys() and all(
        np.array_equal(array, second.arrays[name]) for name, array in first.arrays.items()
    )
    parts = all(same_state(part, second.parts[name]) for name, part in first.parts.items())
    return first.settings == second.settings and arrays and parts


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("n_labels", [2, 15, 16, 17])
def test_there_is_one_score_per_document_and_label_and_never_nan(kind: str, n_labels: int) -> None:
    features, truth = data_for(kind, 80, n_labels)
    scores = fitted(kind, features, truth).scores(features)
    assert scores.shape == truth.shape
    assert scores.dtype == np.float32
    assert (np.isfinite(scores) | (scores == -np.inf)).all()


@pytest.mark.parametrize("kind", LINEAR)
def test_what_was_learnt_is_there(kind: str) -> None:
    features, truth = data_for(kind, 300, 5)
    scores = fitted(kind, features, truth).scores(features)
    order = np.argsort(-scores, axis=1)
    has_label = np.diff(truth.indptr) > 0
    hits = truth.toarray()[np.arange(300), order[:, 0]][has_label]
    assert hits.mean() > (0.7 if kind in {"experts", "word"} else 0.75)  # no values; no learning


@pytest.mark.parametrize("kind", LINEAR)
def test_the_number_of_jobs_changes_no_bit(kind: str) -> None:
    features, truth = data_for(kind, 90, 20)
    alone = fitted(kind, features, truth, jobs=1)
    together = fitted(kind, features, truth, jobs=2)
    assert same_state(alone.state(), together.state())
    assert np.array_equal(alone.scores(features, jobs=1), alone.scores(features, jobs=2))


@pytest.mark.parametrize("kind", LINEAR)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(kind: str) -> None:
    features, truth = data_for(kind, 90, 20)
    first, again, other = (fitted(kind, features, truth, seed=seed) for seed in (3, 3, 4))
    assert same_state(first.state(), again.state())
    assert same_state(first.state(), other.state()) == (kind in WITHOUT_CHANCE)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_rebuilt_learner_scores_the_same_from_arrays_it_cannot_write_to(kind: str) -> None:
    features, truth = data_for(kind, 60, 6)
    learner = fitted(kind, features, truth)
    state = learner.state()
    for array in state.arrays.values():
        array.flags.writeable = False
    again = learner_class(state.kind).from_state(state)
    assert np.array_equal(again.scores(features), learner.scores(features))
    assert same_state(again.state(), state)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_document_alone_scores_as_in_a_crowd(kind: str) -> None:
    features, truth = data_for(kind, 40, 4)
    learner = fitted(kind, features, truth)
    together = learner.scores(features)
    apart = np.vstack([learner.scores(features[[i]]) for i in range(40)])
    np.testing.assert_allclose(apart, together, atol=1e-6)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_learner_of_some_labels_alone_scores_them_as_the_learner_of_all(kind: str) -> None:
    features, truth = data_for(kind, 90, 20)
    learner, labels = fitted(kind, features, truth), np.array([0, 7, 18])
    apart = learner.for_labels(labels)
    assert (apart is None) == (kind in {"binary-and-multiclass", "tree"})
    if apart is not None:
        fitting = fitting_of(features, truth)
        scores = apart.fit(features, truth[:, labels], fitting).scores(features)
        np.testing.assert_allclose(scores, learner.scores(features)[:, labels], atol=0.01)


@pytest.mark.parametrize("kind", LINEAR)
def test_no_documents_have_no_scores(kind: str) -> None:
    features, truth = data_for(kind, 40, 4)
    assert fitted(kind, features, truth).scores(features[:0]).shape == (0, 4)


@pytest.mark.parametrize("kind", LINEAR)
def test_one_document_and_one_label_can_be_learnt(kind: str) -> None:
    features = csr_array(np.array([[1.0, 0.0, 2.0]], np.float32))
    scores = fitted(kind, features, marks(np.array([[True]]))).scores(features)
    assert scores.shape == (1, 1)
    assert not np.isnan(scores).any()


@pytest.mark.parametrize("kind", MULTI_LABEL)
def test_a_label_that_all_or_no_documents_have_never_stops_training(kind: str) -> None:
    features, truth = made_up(50, 3)
    dense = np.hstack([truth.toarray(), np.ones((50, 1), bool), np.zeros((50, 1), bool)])
    scores = fitted(kind, features, marks(dense)).scores(features)
    assert not np.isnan(scores).any()
    everywhere, nowhere = scores[:, 3], scores[:, 4]
    is_told_apart = np.diff(features.indptr) > 0
    if kind not in EQUAL_WITHOUT_FEATURES:
        is_told_apart[:] = True
    assert (everywhere > nowhere)[is_told_apart].all()
    assert (everywhere >= nowhere).all()


@pytest.mark.parametrize("kind", MULTI_LABEL)
def test_documents_without_features_or_labels_are_data_like_any_other(kind: str) -> None:
    features, truth = made_up(50, 3)
    values, dense = features.toarray(), truth.toarray()
    values[:3] = 0
    dense[1:4] = False
    features = csr_array(values)
    scores = fitted(kind, features, marks(dense)).scores(features)
    assert np.array_equal(scores[0], scores[1])


@pytest.mark.parametrize("kind", MULTI_LABEL)
def test_nothing_at_all_can_be_learnt_from_empty_rows(kind: str) -> None:
    features = csr_array((20, 7), dtype=np.float32)
    truth = marks(np.arange(20)[:, None] % 4 == np.arange(4))
    scores = fitted(kind, features, truth).scores(features)
    assert np.array_equal(scores, np.repeat(scores[:1], 20, axis=0))


@pytest.mark.parametrize("kind", LINEAR)
def test_contributions_and_bias_sum_to_the_score_or_there_are_none_for_any_labels(
    kind: str,
) -> None:
    features, truth = data_for(kind, 60, 5)
    learner = fitted(kind, features, truth)
    row, scores = features[[1]], learner.scores(features[[1]])[0]
    explained = learner.contributions(row.indices, row.data, [4, 0])
    if explained is None:
        assert learner.contributions(row.indices, row.data, []) is None
        return
    assert learner.contributions(row.indices, row.data, []) == []
    for label, (weights, bias, is_approximate) in zip([4, 0], explained, strict=True):
        assert weights.shape == row.indices.shape
        assert weights.sum() + bias == pytest.approx(scores[label], abs=1e-5)
        assert not is_approximate


@pytest.mark.parametrize("kind", LINEAR)
def test_linear_weights_give_the_scores_where_there_are_any(kind: str) -> None:
    features, truth = data_for(kind, 60, 5)
    learner = fitted(kind, features, truth)
    linear = learner.linear_weights()
    assert (linear is None) == (kind in NOT_LINEAR)
    if linear is None:
        return
    weights = linear.dense
    if not len(weights):
        labels, values = linear.entries()
        weights = csr_array((values, labels, linear.starts), shape=(features.shape[1], 5))
    np.testing.assert_allclose(
        features @ weights + linear.bias, learner.scores(features), atol=1e-5
    )
    by_label = np.stack([linear.of_label(label) for label in range(5)], axis=1)
    assert np.array_equal(by_label, csr_array(weights).toarray())


@pytest.mark.parametrize("kind", LINEAR)
def test_the_short_cut_to_out_of_fold_scores_learns_what_fit_learns_and_leaks_nothing(
    kind: str,
) -> None:
    features, truth = data_for(kind, 90, 6)
    folds = stratified_folds(truth, 3, 0)
    learner = made(kind)
    held_out = learner.fit_with_held_out(features, truth, folds, Fitting())
    if held_out is None:
        return
    plain = fitted(kind, features, truth)
    assert same_state(learner.state(), plain.state())
    scores, true = np.asarray(held_out.scores), truth.toarray()
    assert scores.shape == truth.shape
    seen = plain.scores(features)
    assert scores[true].mean() < seen[true].mean()
    assert scores[~true].mean() > seen[~true].mean()
