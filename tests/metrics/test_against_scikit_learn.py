"""Wherever scikit-learn defines the same metric, the figures are the same to 1e-12."""

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from app.metrics.average_precision import average_precision
from app.metrics.counting.averages import macro, micro, weighted
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.ranked_positives import ranked_positives
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.label_ranking import coverage_error, lrap, ranking_loss
from app.metrics.ndcg import ndcg_at
from tests.metrics.cases import Dense, scored, sparse

close = {"rel": 1e-12, "abs": 1e-12}
many = settings(max_examples=60, deadline=None)


def cells_of(marks: Dense, truth: Dense, axis: int) -> Cells:
    pairs = (marks & truth, marks & ~truth, ~marks & truth, ~marks & ~truth)
    return Cells(*(pair.sum(axis=axis) for pair in pairs))


@many
@given(scored(), st.sampled_from([-10.0, 0.0, 0.5]))
def test_label_ranking_figures_are_scikit_learns_with_unscored_labels_tied_last(
    case: Any, lowest: float
) -> None:
    scores, truth = case
    unscored = scores < lowest
    ranked = TrueRanks.of(np.where(unscored, -np.inf, scores), sparse(truth))
    scores = np.where(unscored, np.float32(-9), scores)
    expected = {
        lrap: sk.label_ranking_average_precision_score(truth, scores),
        coverage_error: sk.coverage_error(truth, scores),
        ranking_loss: sk.label_ranking_loss(truth, scores),
    }
    for metric, value in expected.items():
        assert metric(ranked).mean() == pytest.approx(value, **close), metric.__name__


@many
@given(scored(ties=False), st.integers(1, 9))
def test_ndcg_is_scikit_learns_on_scores_without_ties(case: Any, k: int) -> None:
    scores, truth = case
    ours = ndcg_at(TrueRanks.of(scores, sparse(truth)), k).mean()
    assert ours == pytest.approx(sk.ndcg_score(truth, scores, k=k), **close)


@many
@given(scored(), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from(["0", "1"]))
def test_averages_are_scikit_learns(case: Any, beta: float, zero: Any) -> None:
    scores, truth = case
    marks = scores > 0
    averaging, options = Averaging(zero, beta), {"zero_division": float(zero)}
    labels, documents = cells_of(marks, truth, 0), cells_of(marks, truth, 1)
    ours = {
        "micro": micro(labels, averaging),
        "macro": macro(labels, averaging),
        "weighted": weighted(labels, averaging),
        "samples": macro(documents, averaging),
    }
    for average, figures in ours.items():
        p, r, f, _ = sk.precision_recall_fscore_support(
            truth, marks, beta=beta, average=average, **options
        )
        overlap = sk.jaccard_score(truth, marks, average=average, **options)
        expected = {"precision": p, "recall": r, "fbeta": f, "overlap": overlap}
        for name, value in expected.items():
            assert figures[name] == pytest.approx(value, **close), (average, name)


@many
@given(scored())
def test_error_and_accuracy_are_scikit_learns(case: Any) -> None:
    scores, truth = case
    marks = scores > 0
    figures = micro(cells_of(marks, truth, 0), Averaging())
    assert figures["error"] == pytest.approx(sk.hamming_loss(truth, marks), **close)
    assert figures["accuracy"] == pytest.approx(
        sk.accuracy_score(truth.ravel(), marks.ravel()), **close
    )


@many
@given(scored(documents=150))
def test_average_precision_is_scikit_learns(case: Any) -> None:
    scores, truth = case
    for label in range(truth.shape[1]):
        ours = average_precision(ranked_positives(scores[:, label], truth[:, label]))
        if truth[:, label].any():
            expected = sk.average_precision_score(truth[:, label], scores[:, label])
            assert ours == pytest.approx(expected, **close)
        else:
            assert ours is None


def test_a_label_set_without_any_label_is_counted_like_scikit_learn() -> None:
    scores, truth = np.zeros((2, 3), np.float32), np.zeros((2, 3), bool)
    assert lrap(TrueRanks.of(scores, sparse(truth))).tolist() == [1.0, 1.0]
