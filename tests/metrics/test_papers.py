"""The papers' own examples, and where a paper's number contradicts its own formula."""

import numpy as np
import pytest

from app.metrics.contingency import accuracy, f1, fallout, precision, recall
from app.metrics.counting.averages import macro, micro
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.eleven_point import eleven_points
from app.metrics.ndcg import dcg_at, ndcg_at
from app.metrics.overall_decisions import macro_star_f1
from app.metrics.precision_at_k import precision_at, r_precision_at, recall_at
from tests.metrics.cases import sparse


def ranked(scores: list[float], truth: list[int]) -> TrueRanks:
    return TrueRanks.of(np.array([scores], np.float32), sparse(np.array([truth], dtype=bool)))


def cells(*rows: tuple[int, int, int, int]) -> Cells:
    return Cells(*(np.array(column) for column in zip(*rows, strict=True)))


def test_libmultilabel_1_2_two_labels_reach_p_at_5_of_04_and_r_at_1_of_05() -> None:
    perfect = ranked([0.9, 0.8, 0.1, 0.0, -0.1], [1, 1, 0, 0, 0])
    assert precision_at(perfect, 5).tolist() == [0.4]
    assert recall_at(perfect, 1).tolist() == [0.5]
    assert r_precision_at(perfect, 1).tolist() == r_precision_at(perfect, 5).tolist() == [1.0]


def test_libmultilabel_1_3_p_at_5_cannot_tell_two_orders_apart_but_ndcg_can() -> None:
    first = ranked([0.1, 0.3, 1.0, -0.3, -0.7], [0, 1, 1, 0, 0])
    second = ranked([0.8, 0.2, 0.7, -0.1, -0.5], [0, 1, 1, 0, 0])
    assert precision_at(first, 5).tolist() == precision_at(second, 5).tolist() == [0.4]
    assert ndcg_at(first, 5)[0] == 1.0 > ndcg_at(second, 5)[0]


def test_libmultilabel_1_3_dcg_of_its_examples_is_1_and_15616_not_152() -> None:
    assert dcg_at(ranked([0.1, 1.2, -0.9, -0.7, -0.5], [0, 1, 0, 0, 0]), 5).tolist() == [1.0]
    second = dcg_at(ranked([0.3, 1.0, 0.4, -0.9, 0.1], [1, 0, 1, 0, 1]), 5)[0]
    assert second == pytest.approx(1.5616, abs=5e-5)


def test_libmultilabel_1_4_micro_f1_has_the_factor_2_that_its_formula_lacks() -> None:
    figures = micro(cells((2, 1, 1, 0), (1, 0, 2, 1)), Averaging())
    assert figures["f1"] == 2 * 3 / (2 * 3 + 1 + 3)


def test_libmultilabel_1_4_macro_star_f1_differs_from_macro_f1() -> None:
    tables = cells((1, 3, 0, 0), (1, 0, 3, 0))
    assert macro(tables, Averaging())["f1"] == pytest.approx(0.4)
    assert macro_star_f1(tables, Averaging()) == pytest.approx(0.625)


def test_libmultilabel_2_1_zero_shot_labels_leave_p_at_k_alone_but_not_the_others() -> None:
    scores = np.float32([[0.9, 0.1]])
    without = TrueRanks.of(scores, sparse(np.array([[True, False]])))
    kept = TrueRanks.of(scores, sparse(np.array([[True, False, True]])))
    assert precision_at(kept, 3).tolist() == precision_at(without, 3).tolist()
    for metric in (recall_at, r_precision_at, ndcg_at):
        assert metric(kept, 3)[0] < metric(without, 3)[0]


@pytest.mark.parametrize(
    ("n_categories", "n_assigned", "in_paper"),
    [(4, 2, (0.50, 0.50)), (8, 2, (0.50, 1 / 6)), (12, 2, (0.50, 0.10))],
)
def test_lewis_table_2_fallout_falls_as_categories_are_added(
    n_categories: int, n_assigned: int, in_paper: tuple[float, float]
) -> None:
    table = cells((1, n_assigned - 1, 1, n_categories - n_assigned - 1))
    assert recall(table, Averaging())[0] == 0.5
    ours = precision(table, Averaging())[0], fallout(table, Averaging())[0]
    assert ours == pytest.approx(in_paper)


def test_lewis_table_3_its_last_row_fits_six_assigned_categories_not_the_seven_listed() -> None:
    six, seven = cells((1, 5, 1, 5)), cells((1, 6, 1, 4))
    assert precision(six, Averaging())[0] == pytest.approx(1 / 6)
    assert fallout(six, Averaging())[0] == 0.5
    assert precision(seven, Averaging())[0] < 0.15
    assert fallout(seven, Averaging())[0] == 0.6


def test_lewis_three_readings_of_0_by_0() -> None:
    never_assigned = cells((0, 0, 2, 3), (1, 0, 0, 4))
    readings = {zero: macro(never_assigned, Averaging(zero)) for zero in ("0", "1", "skip")}
    assert [readings[zero]["precision"] for zero in ("0", "1", "skip")] == [0.5, 1.0, 1.0]
    assert precision(never_assigned, Averaging("skip")).tolist()[1] == 1.0
    nothing = cells((0, 0, 0, 5))
    assert macro(nothing, Averaging("skip"))["f1"] is None


def test_yang_3_1_recall_three_tenths_belongs_to_its_own_interval() -> None:
    labels, found_at = 40, [1, 20, 21, 22, 23, 24, 25, 26, 27, 28]
    scores = [float(labels - place) for place in range(labels)]
    truth = [int(place + 1 in found_at) for place in range(labels)]
    points = eleven_points(ranked(scores, truth))[0]
    assert points[0] == points[1] == 1.0
    assert points[3] == pytest.approx(10 / 28)


def test_yang_3_1_recall_that_is_never_reached_counts_zero() -> None:
    kept = TrueRanks.of(np.float32([[0.9, 0.1]]), sparse(np.array([[True, False, True]])))
    assert eleven_points(kept)[0].tolist() == [1.0] * 6 + [0.0] * 5


def test_yang_3_4_the_trivial_rejector_is_right_in_987_of_1000_decisions() -> None:
    rejects_all = cells((0, 0, 12, 930 - 12))
    assert accuracy(rejects_all, Averaging())[0] == pytest.approx(0.987, abs=5e-4)
    assert f1(rejects_all, Averaging())[0] == 0.0
