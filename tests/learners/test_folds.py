"""Which documents folds score, and which train the model that scores them."""

import numpy as np

from app.folds import Folds, forward_folds


def test_all_documents_of_folds_without_an_order_are_scored() -> None:
    folds = Folds(np.array([1, 0, 1, 2], np.int32))
    assert folds.scored().tolist() == [0, 1, 2, 3]
    parts = folds.scored_parts()
    assert parts is not None
    assert parts.tolist() == [1, 0, 1, 2]


def test_forward_folds_leave_the_first_part_unscored() -> None:
    folds = forward_folds(np.array([3, 1, 0, 2]), 2)
    assert folds.parts.tolist() == [1, 0, 1, 0]
    assert folds.scored().tolist() == [0, 2]
    assert folds.scored_parts() is None  # one model scores them all
    ((inside, outside),) = folds.splits()
    assert (inside.tolist(), outside.tolist()) == ([0, 2], [1, 3])


def test_each_forward_part_is_scored_by_all_that_came_before() -> None:
    folds = forward_folds(np.arange(6), 3)
    assert [split.outside.tolist() for split in folds.splits()] == [[0, 1], [0, 1, 2, 3]]
    parts = folds.scored_parts()
    assert parts is not None
    assert parts.tolist() == [1, 1, 2, 2]
