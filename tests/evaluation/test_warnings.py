"""Warnings that a report gives before anyone quotes a figure of it, and when it gives none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.datasets import open_dataset
from app.datasets.base import ReadOptions
from app.evaluation import evaluate
from tests.evaluation.systems import Table, documents_of, judged


def warnings(report: dict[str, Any], part: str) -> list[str]:
    return [sentence for sentence in report["warnings"] if part in sentence]


def system(n: int, names: tuple[str, ...] = ("a", "b")) -> Table:
    return Table(np.ones((n, len(names)), np.float32), names)


def test_labels_that_no_training_document_has_are_counted_in_a_warning() -> None:
    report = judged(system(3), documents_of([["a", "new"], ["b"], ["other", "new"]]))
    assert warnings(report, "occur in no training document") == [
        "2 labels (3 pairs, 60.0%) occur in no training document; see conventions.labels for "
        "whether they count"
    ]


def test_records_that_could_not_be_read_are_counted_in_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    file.write_text('{"text": "0", "labels": ["a"]}\n{"text": 7}\n{"text": "1", "labels": []}\n')
    documents = open_dataset(file, ReadOptions(on_error="skip"))
    report = evaluate(system(2), documents).as_dict()
    assert report["data"]["skipped"] == 1
    assert [one["line"] for one in report["data"]["skipped_lines"]] == [2]
    assert warnings(report, "skipped") == ["1 records could not be read and were skipped"]


@pytest.mark.parametrize(("support", "few"), [(4, 1), (5, 0)])
def test_labels_with_fewer_than_five_test_documents_are_counted(support: int, few: int) -> None:
    label_sets = [["a", "b"]] * support + [["a"]] * (9 - support)
    said = warnings(judged(system(9), documents_of(label_sets)), "macro-F1 rests on")
    assert said == [
        f"macro-F1 rests on {few} of 2 labels with fewer than 5 test documents each"
    ] * bool(few)


def test_a_report_without_cause_warns_of_nothing_but_accuracy() -> None:
    report = judged(system(9), documents_of([["a", "b"]] * 9))
    assert [sentence.partition(" ")[0] for sentence in report["warnings"]] == ["accuracy"]
