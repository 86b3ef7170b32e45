"""All evaluations of one data set in order, and which of them cannot be told apart."""

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.compare import leaderboard_entries
from app.evaluation.compare.comparison import System, compare
from app.evaluation.compare.kept_comparison import Resampling
from app.evaluation.compare.leaderboard import leaderboard
from tests.evaluation.systems import Table, made_up

FEW = Resampling(100)
FIGURES = ("micro.f1", "macro.f1", "macro_in_test.f1", "samples.f1", "P@1", "lrap")
NOISE = {"best": 0.2, "good": 1.0, "alike": 1.0, "bad": 4.0}
TRUE, DOCUMENTS = made_up(150, seed=3, ties=False)


def noisy(noise: float, seed: int, n_labels: int = 6) -> Table:
    """The truth with noise: the more of it, the worse the system."""
    rng = np.random.default_rng(seed)
    truth = np.array([[name in d.labels for name in TRUE.names] for d in DOCUMENTS])
    rows = (truth - 0.5 + rng.normal(size=truth.shape) * noise).astype(np.float32)
    return Table(rows[:, :n_labels], TRUE.names[:n_labels])


def kept(folder: Path, scorer: Table, **options: Any) -> Path:
    made = EvaluationOptions(keep=folder, **options)
    evaluate(scorer, DOCUMENTS, made, info=JudgedModel(folder.name, "1"))
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    return {
        f"id-{name}": kept(tmp_path / name, noisy(noise, seed))
        for seed, (name, noise) in enumerate(NOISE.items())
    }


def ids(board: dict[str, Any]) -> list[str]:
    return [row["evaluation"] for row in board["rows"]]


def test_rows_stand_in_the_order_of_the_figure_and_alike_ones_share_a_letter(
    folders: dict[str, Path],
) -> None:
    board = leaderboard(folders, "micro.f1", Resampling(300))
    groups = {row["evaluation"]: row["group"] for row in board["rows"]}
    values = [row["value"] for row in board["rows"]]
    assert groups == {"id-best": "a", "id-good": "b", "id-alike": "b", "id-bad": "c"}
    assert values == sorted(values, reverse=True)
    assert [row["rank"] for row in board["rows"]] == [1, 2, 3, 4]
    assert ids(leaderboard(folders, "ranking_loss", FEW))[0] == "id-best"
    assert board["left_out"] == []


@pytest.mark.parametrize("labels_of_bad", [6, 4])
def test_every_pair_is_tested_as_compare_tests_it(tmp_path: Path, labels_of_bad: int) -> None:
    scorers = {
        name: noisy(noise, seed, labels_of_bad if name == "bad" else 6)
        for seed, (name, noise) in enumerate(NOISE.items())
    }
    folders = {name: kept(tmp_path / name, scorer) for name, scorer in scorers.items()}
    systems = {
        name: System(scorer, JudgedModel(name, "1"), lambda: DOCUMENTS)
        for name, scorer in scorers.items()
    }
    boards = {figure: leaderboard(folders, figure, FEW) for figure in FIGURES}
    options = EvaluationOptions(bootstrap=100, include_test_labels=labels_of_bad != 6)
    for a, b in combinations(NOISE, 2):
        tests = compare(systems[a], systems[b], options)["tests"]["bootstrap"]
        for figure, board in boards.items():
            (pair,) = (one for one in board["pairs"] if {one["a"], one["b"]} == {a, b})
            low, high = tests[figure]["interval"]
            expected = [low, high] if pair["a"] == a else [-high, -low]
            assert (pair["p"], pair["interval"]) == (tests[figure]["p"], pytest.approx(expected))


def test_values_and_intervals_are_those_of_the_reports(folders: dict[str, Path]) -> None:
    for figure in ("micro.f1", "macro_in_test.f1", "NDCG@3", "subset_accuracy"):
        for row in leaderboard(folders, figure, FEW)["rows"]:
            seed = list(folders).index(row["evaluation"])
            scorer = noisy(list(NOISE.values())[seed], seed)
            report = evaluate(scorer, DOCUMENTS, EvaluationOptions(bootstrap=100)).as_dict()
            assert row["interval"] == pytest.approx(report["confidence"][figure])
            facts = json.loads((folders[row["evaluation"]] / "kept.json").read_text())
            assert row["value"] == pytest.approx(facts["figures"][figure])


def test_p_of_all_pairs_is_holms(folders: dict[str, Path]) -> None:
    pairs = leaderboard(folders, "micro.f1", FEW)["pairs"]
    smallest = min(pairs, key=lambda pair: pair["p"])
    assert smallest["p_holm"] == pytest.approx(min(1.0, len(pairs) * smallest["p"]))
    assert max(pair["p_holm"] for pair in pairs) >= max(pair["p"] for pair in pairs)


def test_figures_that_are_not_sums_over_documents_have_an_order_alone(
    folders: dict[str, Path],
) -> None:
    board = leaderboard(folders, "break_even", FEW)
    assert ids(board)[0] == "id-best"
    assert board["pairs"] == []
    assert {(row["group"], row["interval"]) for row in board["rows"]} == {(None, None)}


def test_a_figure_that_one_system_lacks_puts_it_last(
    tmp_path: Path, folders: dict[str, Path]
) -> None:
    scorer = noisy(3.0, 9)
    options = EvaluationOptions(keep=tmp_path / "counted")
    counts = JudgedModel("counted", "1", np.arange(6) * 5, 500)
    evaluate(scorer, DOCUMENTS, options, info=counts)
    board = leaderboard({**folders, "counted": tmp_path / "counted"}, "PSP@1", FEW)
    assert ids(board)[0] == "counted"
    assert [row["value"] is None for row in board["rows"]] == [False, True, True, True, True]
    assert [row["rank"] for row in board["rows"]] == [1, 2, 2, 2, 2]
    assert board["pairs"] == []


def test_what_is_left_out_says_why(
    tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard_entries, "MOST_ROWS", 3)
    (tmp_path / "empty").mkdir()
    again = {
        "new-best": kept(tmp_path / "again" / "best", noisy(0.2, 0)),
        "beta": kept(tmp_path / "beta", noisy(0.2, 0), beta=2.0),
        "lost": tmp_path / "empty",
    }
    board = leaderboard({**again, **folders}, "micro.f1", FEW)
    left_out = {entry["evaluation"]: entry["why"] for entry in board["left_out"]}
    assert ids(board)[0] == "new-best"
    assert left_out == {
        "lost": "nothing was kept of this evaluation's documents (FileNotFoundError)",
        "beta": "it cannot be compared with the others: they differ in beta",
        "id-best": "a newer one of the same model and decision is listed",
        "id-bad": "only the best 3 are listed",
    }


def test_many_pairs_are_resampled_so_often_that_holm_can_tell_them_apart(
    tmp_path: Path, folders: dict[str, Path]
) -> None:
    assert leaderboard(folders)["resamples"] == 1000
    for number in range(4):
        copied = shutil.copytree(folders["id-best"], tmp_path / str(number))
        facts = json.loads((copied / "kept.json").read_text())
        (copied / "kept.json").write_text(json.dumps({**facts, "version": str(number + 2)}))
        folders[str(number)] = copied
    board = leaderboard(folders)
    assert (len(board["pairs"]), board["resamples"]) == (28, 2000)
    assert min(pair["p_holm"] for pair in board["pairs"]) < 0.05


def test_no_evaluations_are_an_empty_table_and_unknown_figures_are_refused(
    tmp_path: Path, folders: dict[str, Path]
) -> None:
    assert leaderboard({})["rows"] == []
    with pytest.raises(InvalidRequestError, match=r"micro\.f1"):
        leaderboard(folders, "micro.f7")
    other = Table(noisy(1.0, 5).rows, (*TRUE.names[:5], "not in the test set"))
    folders["other"] = kept(tmp_path / "other", other)
    with pytest.raises(InvalidRequestError, match=r"macro_in_test\.f1 averages over the labels"):
        leaderboard(folders, "macro.f1", FEW)
