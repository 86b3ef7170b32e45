"""A test set measured file by file gives the report of one that is read in one go, to the byte."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.input.part_files import PartFile, part_files
from app.datasets.reading import open_one_of_parts, open_parts, options_of_parts
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.measure import confusion
from app.evaluation.partitions.measured_file import MeasuredFile
from app.evaluation.partitions.merging import merged_report
from app.metrics.counting.exact_sums import ExactSums
from app.model import Model, load_model
from tests.conftest import FILLER, TOPICS

N_FILES = 5


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[PartFile]:
    return part_files(f"{written(tmp_path_factory.mktemp('parts'))}/*.jsonl", "auto") or []


def written(folder: Path) -> Path:
    """Documents with unknown labels in another order in each file, without labels, ids, sense."""
    pick = random.Random(3)
    for number in range(N_FILES):
        lines = [json.dumps(document(pick, number, row)) for row in range(40)]
        (folder / f"{number}.jsonl").write_text("\n".join([*lines, "{broken", ""]))
    (folder / "9.jsonl").write_text("\n")
    return folder


def document(pick: random.Random, number: int, row: int) -> dict[str, Any]:
    labels = pick.sample(sorted(TOPICS), pick.choice([0, 1, 2, 3]))
    said = pick.sample(sorted(TOPICS), 2) if pick.random() < 0.5 else labels
    words = [word for label in said for word in pick.sample(TOPICS[label].split(), 1)]
    unknown = pick.sample(
        [f"unknown-{(number * 3 + n) % 7}" for n in range(4)], pick.choice([0, 2])
    )
    text = " ".join([*words, *pick.sample(FILLER.split(), pick.randrange(10))])
    identity = {"id": f"{number}-{row}"} if pick.random() < 0.5 else {}
    return {**identity, "text": text, "labels": labels + unknown}


OPTIONS = {
    "plain": EvaluationOptions(),
    "all labels": EvaluationOptions(include_test_labels=True, bootstrap=20, suspects=5),
    "bootstrap": EvaluationOptions(bootstrap=20, unlabelled="drop", zero_division="skip"),
    "by rank": EvaluationOptions(decision="rank:2", k=(1, 2)),
    "binned": EvaluationOptions(max_scores=300),
}


def both(
    model: Model, files: list[PartFile], options: EvaluationOptions, folder: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report by one reading, and that by files; without times."""
    how = ReadOptions(on_error="skip")
    info = JudgedModel.of(model)
    whole = evaluate(model.classifier, open_parts(files, how), options, info=info).as_dict()
    first, others = options_of_parts(files, how)
    measured = []
    for number, file in enumerate(files):
        documents = open_one_of_parts(file, others if number else first)
        (folder / str(number)).mkdir()
        own = MeasuredFile.of(model.classifier, documents, (options, info), folder / str(number))
        measured.append(MeasuredFile.from_arrays(own.arrays()))
    by_file = merged_report(model.classifier, measured, options, info=info)[0].as_dict()
    assert set(by_file.pop("seconds")) == set(whole.pop("seconds"))
    return whole, by_file


@pytest.mark.parametrize("name", OPTIONS)
def test_files_measured_apart_give_the_report_of_one_reading(
    name: str, files: list[PartFile], tiny_models: Path, tmp_path: Path
) -> None:
    model = load_model(Store(tiny_models), "tiny")
    whole, by_file = both(model, files, OPTIONS[name], tmp_path)
    assert whole["data"]["documents"] > 100
    assert len(whole["worst_documents"]) == 30
    assert json.dumps(by_file) == json.dumps(whole)


def test_forgotten_confusions_are_the_same_ones(
    files: list[PartFile], tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confusion, "COUNTED", 6)
    monkeypatch.setattr(confusion, "PENDING", 0)
    model = load_model(Store(tiny_models), "tiny")
    options = EvaluationOptions(include_test_labels=True, decision="rank:4")
    whole, by_file = both(model, files, options, tmp_path)
    assert whole["most_confused"]
    assert json.dumps(by_file) == json.dumps(whole)


def test_sums_do_not_depend_on_how_numbers_are_grouped() -> None:
    pick = random.Random(1)
    numbers = [[pick.random() * 10 ** pick.randrange(-9, 6)] for _ in range(1000)]
    whole, parts = ExactSums(1), ExactSums(1)
    whole.add(np.array(numbers))
    pick.shuffle(numbers)
    for start in range(0, 1000, 7):
        own = ExactSums(1)
        own.add(np.array(numbers[start : start + 7]))
        parts.merge(own.limbs)
    assert whole.totals().tolist() == parts.totals().tolist()
    assert whole.totals()[0] == pytest.approx(sum(n for (n,) in numbers), rel=1e-15)
