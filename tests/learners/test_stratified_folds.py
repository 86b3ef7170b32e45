"""Folds spread every label as evenly as its documents allow."""

import numpy as np
import pytest

from app.arrays import truth_from_rows
from app.errors import InvalidRequestError
from app.learners.out_of_fold.stratified_folds import stratified_folds


def random_truth(n_documents: int, n_labels: int) -> object:
    random = np.random.default_rng(0)
    rows = [(random.zipf(1.5, random.integers(0, 5)) - 1) for _ in range(n_documents)]
    return truth_from_rows([[int(c) for c in row if c < n_labels] for row in rows], n_labels)


def test_rare_labels_are_in_as_many_folds_as_they_can_be() -> None:
    truth = random_truth(1000, 60)
    folds = stratified_folds(truth, 5, seed=3).parts
    per_fold = np.array([truth[folds == fold].sum(axis=0) for fold in range(5)])
    positives = per_fold.sum(axis=0)
    assert set(positives.tolist()) & {1, 2, 3, 4}
    spread = (per_fold > 0).sum(axis=0)
    assert (spread >= np.minimum(positives, 4) - 1).all()
    assert np.abs(per_fold - positives / 5).max() <= 3
    sizes = np.bincount(folds, minlength=5)
    assert sizes.max() - sizes.min() <= 20


def test_the_same_seed_gives_the_same_folds_and_another_seed_others() -> None:
    truth = random_truth(200, 10)
    first = stratified_folds(truth, 3, seed=1).parts
    assert first.dtype == np.int32
    np.testing.assert_array_equal(stratified_folds(truth, 3, seed=1).parts, first)
    assert (stratified_folds(truth, 3, seed=2).parts != first).any()


def test_documents_without_labels_are_dealt_out_evenly() -> None:
    folds = stratified_folds(truth_from_rows([[]] * 10, 2), 5, seed=0).parts
    assert np.bincount(folds).tolist() == [2] * 5


@pytest.mark.parametrize("n_folds", [0, 1, 4])
def test_a_number_of_folds_that_cannot_be_is_refused(n_folds: int) -> None:
    with pytest.raises(InvalidRequestError, match="accepted: 2 to"):
        stratified_folds(truth_from_rows([[0]] * 3, 1), n_folds, seed=0)
