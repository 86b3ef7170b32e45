"""Probabilities in reports and prediction files, by a calibration that anyone can compute."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.evaluation.systems import Table, documents_of, judged

Scores = NDArray[np.float32]


class ByScore:
    """The score is the probability."""

    def probabilities(self, scores: Scores) -> Scores:
        return np.clip(scores, 0.0, 1.0)

    def probability(self, columns: NDArray[np.int64], scores: Scores) -> Scores:
        return np.clip(scores, 0.0, 1.0)


def system() -> Table:
    rows = np.float32([[0.15, 0.05, 0.9], [0.05, 0.6, 0.7]])
    return Table(rows, ("a", "b", "c"), calibration=ByScore())


def test_calibration_counts_pairs_of_probability_one_tenth_and_more() -> None:
    report = judged(system(), documents_of([["c"], ["b"]]))
    bins = report["calibration"]["bins"]
    assert sum(one["pairs"] for one in bins) == 4
    assert bins[0]["probability"] == pytest.approx(0.15)
    expected = (0.15 + 0.1 + 0.4 + 0.7) / 4
    assert report["calibration"]["ece"] == pytest.approx(expected)


def test_risk_and_coverage_run_over_what_was_assigned() -> None:
    points = judged(system(), documents_of([["c"], ["b"]]))["risk_coverage"]
    assert points[-1]["coverage"] == 1.0
    assert points[-1]["risk"] == pytest.approx(4 / 6)
    assert points[0] == {
        "coverage": pytest.approx(1 / 6),
        "risk": 0.0,
        "min_probability": pytest.approx(0.9, abs=1e-4),
    }


def test_written_predictions_fall_by_score_and_carry_probability_and_threshold(
    tmp_path: Path,
) -> None:
    file = tmp_path / "predictions.jsonl"
    judged(system(), documents_of([["c"], ["b"]]), predictions=file, decision="rank:2")
    ranked = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["id"] for one in ranked] == ["doc-0", "doc-1"]
    assert [[label["label"] for label in one["labels"]] for one in ranked] == [
        ["c", "a"],
        ["c", "b"],
    ]
    assert [label["probability"] for label in ranked[0]["labels"]] == pytest.approx([0.9, 0.15])
    assert all("threshold" not in label for one in ranked for label in one["labels"])
    judged(system(), documents_of([["c"], ["b"]]), predictions=file)
    cut = json.loads(file.read_text().splitlines()[0])
    assert {label["threshold"] for label in cut["labels"]} == {0.0}
