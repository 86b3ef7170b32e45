"""Hulls hold every cut that can be best, and each cut decides exactly as its counts say."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from app.decisions.tuning.hulls import Hulls, midway
from app.heldout import HeldOut
from tests.decisions.cases import NARROW, counts, dense_truth, given_patiently, held_outs


def hulls_of(scores: list[list[float]], truth: list[list[int]]) -> Hulls:
    held_out = HeldOut.of(np.array(scores, np.float32), csr_array(np.array(truth, np.bool_)))
    return Hulls.of(held_out)


@given_patiently(held_outs(NARROW))
def test_every_vertex_counts_what_its_float32_cut_decides(held_out: HeldOut) -> None:
    hulls, truth = Hulls.of(held_out), dense_truth(held_out)
    for vertex, label in enumerate(hulls.label_of_vertex):
        marks = held_out.scores[:, label] > hulls.cuts[vertex]
        assert counts(marks, truth[:, label]) == (hulls.tp[vertex], hulls.fp[vertex])


def test_cuts_lie_midway_and_just_beyond_the_ends() -> None:
    hulls = hulls_of([[3], [2], [1], [0]], [[1], [0], [1], [1]])
    assert hulls.fp.tolist() == [0, 0, 1]
    assert hulls.tp.tolist() == [0, 1, 3]
    assert hulls.cuts[0] == np.nextafter(np.float32(3), np.float32(4))
    assert hulls.cuts[1] == 2.5
    assert hulls.cuts[2] == np.nextafter(np.float32(0), np.float32(-1))


def test_a_highest_score_that_most_documents_share_has_no_finite_cut_above_it() -> None:
    shared = hulls_of([[1], [1], [1], [0]], [[1], [0], [0], [0]])
    assert shared.cuts.tolist() == [np.inf, 0.5]
    alone = hulls_of([[1], [1], [0], [0]], [[1], [1], [0], [0]])
    assert alone.cuts[0] == np.nextafter(np.float32(1), np.float32(2))


def test_a_midpoint_that_rounds_up_becomes_the_lower_score() -> None:
    low = np.float32(1)
    steps = [low, np.nextafter(low, np.float32(2))]
    steps.append(np.nextafter(steps[1], np.float32(2)))
    below, above = np.array(steps[:2], np.float32), np.array(steps[1:], np.float32)
    assert midway(below, above).tolist() == below.tolist()


@pytest.mark.parametrize("scores", [[[1.0], [2.0]], [[-np.inf], [2.0]]])
def test_a_label_without_a_scored_positive_is_never_assigned(scores: list[list[float]]) -> None:
    truth = [[1 if score == [-np.inf] else 0] for score in scores]
    assert hulls_of(scores, truth).cuts.tolist() == [np.inf]


def test_one_document_and_all_positive_labels_have_a_cut_below_everything() -> None:
    assert hulls_of([[5.0]], [[1]]).cuts[-1] < 5.0
    hulls = hulls_of([[1.0], [2.0]], [[1], [1]])
    assert hulls.tp.tolist() == [0, 2]
    assert hulls.cuts[-1] < 1.0


@given_patiently(held_outs())
def test_sparse_scores_give_the_same_hulls_as_dense_ones_without_a_score(held_out: HeldOut) -> None:
    rows, columns = np.nonzero(held_out.scores > -np.inf)
    stored = csc_array((held_out.scores[rows, columns], (rows, columns)), held_out.scores.shape)
    sparse = Hulls.of(HeldOut.of(stored, held_out.truth, is_exact=False))
    dense = Hulls.of(held_out)
    assert not sparse.is_exact
    for name, array in dense.state().arrays.items():
        np.testing.assert_array_equal(sparse.state().arrays[name], array)


def test_hulls_come_back_equal_from_their_state() -> None:
    hulls = hulls_of([[3, 1], [2, 5], [1, 2]], [[1, 0], [0, 1], [1, 1]])
    again = Hulls.from_state(hulls.state())
    assert again.n_documents == 3
    assert again.state().settings == hulls.state().settings
    for name, array in hulls.state().arrays.items():
        np.testing.assert_array_equal(again.state().arrays[name], array)
