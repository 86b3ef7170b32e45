"""Sparse out-of-fold scores hold each document's best labels and its true ones."""

import weakref

import numpy as np
import pytest

from app.folds import Folds
from app.learners.base import Fitting
from app.learners.out_of_fold.fitting import out_of_fold
from app.learners.out_of_fold.scores import BestScores, out_of_fold_scores
from app.learners.rocchio import Rocchio
from tests.learners.made_up import made_up, marks

PICK = np.random.default_rng(5)
SCORES = PICK.permutation(30 * 40).reshape(30, 40).astype(np.float32)
TRUTH = marks(PICK.random((30, 40)) < 0.1)


@pytest.mark.parametrize("parts", [[16, 32], []])
@pytest.mark.parametrize("kernels", ["auto", "plain"])
def test_the_best_and_the_true_are_kept_and_nothing_else(
    kernels: str, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", kernels)
    kept = out_of_fold_scores(TRUTH, dense_cells=1000, best=5)
    assert isinstance(kept, BestScores)
    labels = PICK.permutation(40)
    for documents in (np.arange(0, 30, 2), np.arange(1, 30, 2)):
        for block in np.split(labels, parts):
            kept.put(documents, block, SCORES[np.ix_(documents, block)])
    held_out = kept.held_out()
    expected = TRUTH.toarray()
    np.put_along_axis(expected, np.argsort(-SCORES, axis=1)[:, :5], True, axis=1)
    found = held_out.scores.tocoo()
    assert not held_out.is_exact
    assert found.nnz == expected.sum()
    assert np.array_equal(found.data, SCORES[found.coords])
    assert expected[found.coords].all()


def test_few_pairs_are_all_kept() -> None:
    kept = out_of_fold_scores(TRUTH)
    kept.put(np.arange(30), np.arange(40), SCORES)
    assert np.array_equal(kept.held_out().scores, SCORES)


def test_of_many_pairs_three_hundred_labels_a_document_are_kept() -> None:
    none = marks(np.zeros((2, 2000), bool))
    collected = out_of_fold_scores(none, dense_cells=3000)
    scores = np.arange(4000, dtype=np.float32).reshape(2, 2000)
    collected.put(np.arange(2), np.arange(2000), scores)
    kept = collected.held_out().scores
    assert kept.nnz == 600
    assert kept.data.min() == 1700


@pytest.mark.parametrize("n_labels", [7, 299, 5000])
def test_no_number_of_labels_is_kept_beyond_the_bound(n_labels: int) -> None:
    n_documents, bound = 200, 1000
    truth = marks(np.zeros((n_documents, n_labels), bool))
    collected = out_of_fold_scores(truth, dense_cells=bound)
    scores = np.random.default_rng(0).normal(size=truth.shape).astype(np.float32)
    collected.put(np.arange(n_documents), np.arange(n_labels), scores)
    held_out = collected.held_out()
    assert 0 < held_out.scores.nnz * 4 <= bound
    assert not held_out.is_exact


def test_scores_of_few_labels_are_exact_in_the_sparse_form() -> None:
    few = np.where(np.argsort(np.argsort(-SCORES, axis=1), axis=1) < 8, SCORES, -np.inf)
    kept = out_of_fold_scores(TRUTH, dense_cells=1000, best=8)
    kept.put(np.arange(30), np.arange(40), few.astype(np.float32))
    held_out = kept.held_out()
    assert held_out.is_exact
    assert held_out.scores.nnz == 30 * 8
    kept = out_of_fold_scores(TRUTH, dense_cells=1000, best=7)
    kept.put(np.arange(30), np.arange(40), few.astype(np.float32))
    assert not kept.held_out().is_exact


def test_the_model_of_a_fold_is_gone_before_the_next_one_is_fitted() -> None:
    features, truth = made_up(30, 4)
    fitted: weakref.WeakSet[Rocchio] = weakref.WeakSet()

    def next_learner() -> Rocchio:
        assert not len(fitted)
        fitted.add(learner := Rocchio())
        return learner

    folds = Folds(np.arange(30, dtype=np.int32) % 3)
    assert out_of_fold(next_learner, features, truth, folds, Fitting()).n_documents == 30
