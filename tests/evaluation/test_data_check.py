"""What a check says about a test set, on one small enough to count by hand."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.evaluation.data_check import CheckedModel, check
from app.evaluation.options import JudgedModel
from app.model import load_model


@pytest.fixture
def models(tiny_models: Path) -> dict[str, CheckedModel]:
    model = load_model(Store(tiny_models), "tiny")
    return {"tiny": CheckedModel(model.classifier, JudgedModel.of(model))}


def checked(models: dict[str, CheckedModel], records: list[dict[str, Any]]) -> dict[str, Any]:
    content = "".join(json.dumps(record) + "\n" for record in records).encode()
    return check(open_dataset(BytesIO(content), ReadOptions(format="jsonl")), models)


def test_everything_that_is_odd_about_the_data_is_counted(models: dict[str, CheckedModel]) -> None:
    found = checked(
        models,
        [
            {"id": "1", "text": "my invoice was charged twice", "labels": ["billing"]},
            {"id": "2", "text": "my  invoice was charged\ntwice", "labels": ["billing", "moon"]},
            {"id": "2", "text": " ", "labels": ["x" * 300]},
            {"text": "nothing", "labels": []},
        ],
    )
    sentences = found.pop("warnings")
    assert len(found.pop("data")) == 64
    assert found == {
        "format": "jsonl",
        "documents": 4,
        "labelled": 3,
        "unlabelled": 1,
        "labels": 3,
        "unknown_labels": ["moon", "x" * 100],
        "n_unknown_labels": 2,
        "duplicates": 1,
        "seen_in_training": {"tiny": 0},
        "ids": ["1", "2", "2"],
        "skipped": 0,
    }
    for word in ("not known", "repeat", "id of one before", "no text"):
        assert sum(word in sentence for sentence in sentences) == 1


def test_documents_that_were_trained_on_are_counted(
    models: dict[str, CheckedModel], corpus_file: Path
) -> None:
    records = [json.loads(line) for line in corpus_file.read_text().splitlines()[:7]]
    assert checked(models, records)["seen_in_training"] == {"tiny": 7}


def test_data_without_documents_are_said_to_have_none(models: dict[str, CheckedModel]) -> None:
    assert checked(models, [])["warnings"] == ["there are no documents"]
