"""Any system can be judged by the scores it wrote down."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from app.decisions.decision import Decision
from app.errors import InvalidDataError
from app.evaluation import EvaluationOptions, evaluate
from app.evaluation.storage.scored_file import ScoredFile
from tests.evaluation.systems import documents_of, judged, made_up
from tests.evaluation.test_report import flat


def test_pairs_in_libmultilabels_form_are_judged_like_the_system_itself(tmp_path: Path) -> None:
    system, documents = made_up(40)
    lines = [
        " ".join(f"{n}:{s}" for n, s in zip(system.names, row, strict=True) if s > -np.inf)
        for row in system.rows.tolist()
    ]
    file = tmp_path / "scores.txt.gz"
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    scored = ScoredFile(file, system.names)
    theirs = evaluate(scored, scored.paired(documents)).as_dict()
    ours = evaluate(system, documents).as_dict()
    for part in ("ranking", "decisions", "curves"):
        assert flat(theirs[part]) == flat(ours[part])


def test_written_predictions_are_read_again_with_the_same_decisions(tmp_path: Path) -> None:
    system, documents = made_up(40)
    system.decision = Decision(np.linspace(-1, 1, 6).astype(np.float32), "micro-f")
    file = tmp_path / "predictions.jsonl"
    ours = judged(system, documents, predictions=file)
    scored = ScoredFile(file, {label for d in documents for label in d.labels})
    theirs = evaluate(scored, scored.paired(documents), EvaluationOptions()).as_dict()
    for average in ("micro", "macro", "samples"):
        assert theirs["decisions"][average] == pytest.approx(ours["decisions"][average])
    assert scored.cautions == []


def test_labels_of_the_test_set_that_no_line_names_count_as_missed(tmp_path: Path) -> None:
    file = tmp_path / "scores"
    file.write_text("a:0.9\na:0.8\n")
    scored = ScoredFile(file, ["a", "b"])
    report = evaluate(scored, scored.paired(documents_of([["a"], ["b"]]))).as_dict()
    assert report["decisions"]["micro"]["recall"] == 0.5
    assert report["data"]["zero_shot_pairs"] == 0
    assert "rank:K" in scored.cautions[0]


@pytest.mark.parametrize("lines", [2, 30])
def test_scores_that_float32_would_tie_are_kept_apart(lines: int, tmp_path: Path) -> None:
    file = tmp_path / "scores"
    names = [f"label-{number:02}" for number in range(20)]
    file.write_text("label-00:0.7000000001 label-01:0.7000000002\n" * lines)
    scored = ScoredFile(file, names)
    documents = documents_of([["label-01"]] * lines)
    report = evaluate(scored, scored.paired(documents), EvaluationOptions(decision="rank:1"))
    assert report.content["ranking"]["P@1"] == 1.0
    assert report.content["decisions"]["micro"]["f1"] == 1.0
    assert report.content["decisions"]["break_even"] == {"value": 1.0, "gap": 0.0}


def test_a_score_is_not_above_the_same_cut(tmp_path: Path) -> None:
    file = tmp_path / "scores"
    file.write_text("a:0.7 b:0.7000001\n")
    scored = ScoredFile(file)
    options = EvaluationOptions(decision="rank:2,0.7")
    report = evaluate(scored, scored.paired(documents_of([["b"]])), options)
    assert report.content["decisions"]["micro"]["f1"] == 1.0


def test_a_system_that_says_nothing_finds_nothing_at_any_k(tmp_path: Path) -> None:
    file = tmp_path / "scores"
    file.write_text('{"labels": []}\n' * 2)
    scored = ScoredFile(file, ["a", "b"])
    report = evaluate(scored, scored.paired(documents_of([["a"], ["a", "b"]]))).as_dict()
    found = {name: flat(value) for name, value in report["ranking"].items() if value is not None}
    for name in ("lrap", "coverage_error", "ranking_loss", "one_error"):
        found.pop(name)
    assert {number for numbers in found.values() for number in numbers} == {0.0}
    assert report["ranking"]["one_error"] == 1.0


def test_labels_that_a_line_does_not_name_are_not_found_behind_those_it_names(
    tmp_path: Path,
) -> None:
    file = tmp_path / "scores"
    file.write_text("b:0.9\nc:0.9\n")
    scored = ScoredFile(file, ["a", "b", "c"])
    ranking = evaluate(scored, scored.paired(documents_of([["a", "b"], ["a"]]))).content["ranking"]
    assert (ranking["P@1"], ranking["R@5"], ranking["RP@5"]) == (0.5, 0.25, 0.25)
    assert ranking["mrr"] == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a:1\n", "ends before"),
        ("a:1\nb:1\nc:1\n", "more lines"),
        ("a:1\nb:x\n", "scores:2"),
        ("a:1\na:1 a:2\n", "named twice"),
        ("a:1\na:nan\n", "not a number"),
        ('a:1\n{"labels": 3}\n', "scores:2"),
        ('a:1\n{"id": "other", "labels": []}\n', "the id is not"),
        ("a:1\n:1\n", "scores:2"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_line(
    content: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "scores"
    file.write_text(content)
    with pytest.raises(InvalidDataError, match=said):
        judge(file)


def judge(file: Path) -> None:
    scored = ScoredFile(file)
    evaluate(scored, scored.paired(documents_of([["a"], ["b"]])))
