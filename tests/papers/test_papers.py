"""The papers' tables: figures by hand, and the whole way on a corpus small enough to read."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.arrays import truth_from_rows
from app.catalogue import find
from app.cli.commands.papers import app
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.errors import MissingExtraError
from app.heldout import HeldOut
from app.papers import TABLES
from app.papers.experiments import Experiments, eight_tenths
from app.papers.methods import Method
from app.papers.pillai import METHODS
from app.papers.rows import Measured, PaperRow, absent, shown
from app.papers.sweeps import sweeps
from app.papers.tables import yang_table6
from app.papers.tables.lewis import lewis_figure
from app.papers.tables.pillai_figure3 import on_test
from app.papers.tables.yang_table4 import best, ranked

WORDS = {"fruit": "apple pear plum", "metal": "iron zinc lead", "tool": "saw axe file"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Reuters of three labels."""
    folder = tmp_path_factory.mktemp("data") / "reuters"
    folder.mkdir()
    random = np.random.default_rng(0)
    for part, n in (("train", 90), ("test", 30)):
        lines = []
        for number in range(n):
            names = sorted(random.choice(list(WORDS), random.integers(1, 3), replace=False))
            words = [random.choice(WORDS[name].split()) for name in names for _ in range(3)]
            lines.append(f"{part}{number}\t{' '.join(names)}\t{' '.join(words)}")
        (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n")
    return folder.parent


def test_lewis_figures_are_those_of_his_tables() -> None:
    assert lewis_figure(12, "AC", "fallout") == pytest.approx(0.1)
    assert lewis_figure(12, "ACEFIJ", "precision") == pytest.approx(1 / 6)
    assert lewis_figure(12, "ACEFIJ", "fallout") == 0.5
    assert lewis_figure(12, "ACEFIJK", "fallout") == 0.6  # as printed; the paper says 50 %


def test_algorithm_1_by_hand_moves_thresholds_up_until_nothing_is_better() -> None:
    """Label 0 is right above 0.5; label 1 has one true document, ranked last of three."""
    scores = np.float32([[0.9, 0.9], [0.6, 0.8], [0.4, 0.1]])
    truth = truth_from_rows([[0], [0], [1]], 2)
    done = sweeps(HeldOut.of(scores, truth))
    assert done[-1].value == pytest.approx(2 * 2 / (2 + 3))
    assert (scores > done[-1].cuts).tolist() == [[True, False], [True, False], [False, False]]
    assert len(done) == 2
    assert done[0].n_tried == 4 + 4
    assert done[1].n_tried == 8 + 3 + 1


def test_algorithm_1_reaches_the_maximum_of_the_sorted_list_in_any_order() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        scores = random.normal(size=(60, 7)).round(1).astype(np.float32)
        truth = truth_from_rows(
            [np.flatnonzero(random.random(7) < 0.2).tolist() for _ in scores], 7
        )
        held_out = HeldOut.of(scores, truth)
        hulls = Hulls.of(held_out)
        best_value = micro_f(hulls, micro_f_vertices(hulls))
        for order in (None, random.permutation(7).tolist()):
            found = sweeps(held_out, order)
            assert found[-1].value == pytest.approx(best_value)
            values = [sweep.value for sweep in found]
            assert values == sorted(values)


def test_a_run_leaves_two_tenths_out_and_ten_runs_leave_each_out_twice() -> None:
    left_out = [np.setdiff1d(np.arange(50), eight_tenths(50, run)) for run in range(10)]
    assert {len(rows) for rows in left_out} == {10}
    assert np.bincount(np.concatenate(left_out)).tolist() == [2] * 50
    assert eight_tenths(50, 0).tolist() != eight_tenths(50, 10).tolist()


def test_the_rank_of_highest_micro_f1_is_taken_and_the_first_among_equals() -> None:
    scores = np.float32([[3, 2, 1], [1, 3, 2]])
    assert best((1, 2, 3), lambda k: ranked(scores, k), truth_from_rows([[0, 1], [1, 2]], 3)) == 2
    assert best((1, 2), lambda k: ranked(scores, k), truth_from_rows([[], []], 3)) == 1


def test_a_row_says_its_difference_or_why_there_is_none() -> None:
    row = PaperRow("SVM", 0.88, Measured.over_runs([0.88, 0.9], 3.0), published_sd=0.002)
    assert shown(row)[:4] == ["SVM", "0.880 ± 0.002", "0.890 ± 0.014", "+0.010"]
    missing = shown(absent("NB", 0.7, "not there"))
    assert missing[1:5] == ["0.700", "–", "", "absent: not there"]


def test_scores_of_a_method_are_fitted_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiments = Experiments(data, runs=1)
    svm = METHODS["Reuters"]["SVM"]
    first = experiments.whole("reuters", svm)
    monkeypatch.setattr("app.papers.experiments.fit_member", None)
    assert (
        experiments.whole("reuters", Method(svm.name, svm.learner, svm.changes, svm.same)) is first
    )


def test_settings_are_chosen_by_the_training_documents_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments = Experiments(data, runs=1)
    monkeypatch.setattr("app.papers.experiments._scores", None)  # what scores test documents
    worse, better = ("features.max_features=1",), ("features.max_features=9",)
    method = Method("k-NN", "knn", ("learner.k=3",), choices=(worse, better))
    assert experiments.chosen("reuters", method).changes == ("learner.k=3", *better)
    assert experiments.chosen("reuters", METHODS["Reuters"]["SVM"]) is METHODS["Reuters"]["SVM"]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "yang-table6"])
def test_every_table_has_each_cell_measured_or_a_reason(name: str, data: Path) -> None:
    table = find(TABLES, name, "table")(Experiments(data, runs=2))
    assert table.rows
    for row in table.rows:
        assert (row.ours is None) == row.same_data.startswith("absent: ")
        assert row.ours is None or np.isfinite(row.ours.value)
    assert all(svg.startswith("<svg") for svg in table.figures.values())


def test_a_label_without_assignments_counts_by_the_precision_that_is_asked_for() -> None:
    marks = np.array([[True, False], [True, False]])
    true = np.array([[True, False], [False, True]])
    assert on_test(marks, true, "macro", 0.0) == (0.25, 0.5)
    assert on_test(marks, true, "macro", 1.0) == (0.75, 0.5)
    assert on_test(marks, true, "macro", math.nan) == (0.5, 0.5)
    assert on_test(marks, true, "micro", 0.0) == (0.5, 0.5)


def test_networks_for_each_label_stand_beside_the_figure_of_parc(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    published = {"NNets.PARC": yang_table6.PUBLISHED["NNets.PARC"]}
    monkeypatch.setattr(yang_table6, "PUBLISHED", published)
    rows = yang_table6.yang_table6(Experiments(data, runs=1)).rows
    assert [row.cell.rpartition(", ")[2] for row in rows] == ["one cut", "a cut a label"]
    assert all(row.ours is not None and "version 4" in row.same_data for row in rows)


def test_a_system_whose_packages_are_missing_is_printed_with_the_reason(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(kind: str) -> None:
        raise MissingExtraError(f"learner {kind}", "neural")

    monkeypatch.setattr("app.papers.tables.yang_table4.learner_class", missing)
    rows = yang_table6.yang_table6(Experiments(data, runs=1)).rows
    reasons = {row.cell: row.same_data for row in rows}
    assert "[neural]" in reasons["NNets.PARC, Reuters version 4"]


def test_without_data_every_cell_is_printed_with_the_reason(tmp_path: Path) -> None:
    page, result = tmp_path / "papers.html", tmp_path / "papers.json"
    arguments = ["all", "--data", str(tmp_path), "--json", str(result), "--html", str(page)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    tables = {table["name"]: table["rows"] for table in json.loads(result.read_text())["tables"]}
    assert list(tables) == list(TABLES)
    cells = {row["cell"]: row for row in tables["pillai-table3"]}
    assert cells["Reuters, SVM, test"]["published"] == 0.88
    assert "reuters/train.* is not in" in cells["Reuters, SVM, test"]["same_data"]
    assert len(tables["yang-table6"]) == 1 + 7 + 11 + 4  # of versions 1 to 4
    assert "CONSTRUE, Reuters version 1" in page.read_text()
