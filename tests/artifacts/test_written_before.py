"""Models on disk stay readable: what earlier code wrote answers as it did then."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.artifacts.store import Store
from app.model import load_model
from app.prediction import Query, plan_of

KEPT = Path(__file__).parent / "written_before"
MODELS = sorted(path.name for path in (KEPT / "models").iterdir())


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def flattened(predictions: list[Any]) -> list[tuple[str, list[str], list[str], list[float]]]:
    """Ids, labels and abstained ones, and every number of an answer in its order."""
    return [
        (
            prediction["id"],
            [label.pop("label") for label in prediction["labels"]],
            prediction.get("abstained", []),
            [value for label in prediction["labels"] for _, value in sorted(label.items())],
        )
        for prediction in predictions
    ]


@pytest.mark.parametrize(("query", "suffix"), [(Query(), ""), (Query(top_k=3), "-top-3")])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_written_before_answers_as_it_did(name: str, query: Query, suffix: str) -> None:
    texts = lines(KEPT / "texts.jsonl")
    plan = plan_of(query, load_model(Store(KEPT / "models"), name).classifier)
    found = plan.predictions([text["text"] for text in texts])
    for prediction, text in zip(found, texts, strict=True):
        prediction.id = text["id"]
    now = flattened(json.loads(msgspec.json.encode(found)))
    then = flattened(lines(KEPT / "expected" / f"{name}{suffix}.jsonl"))
    assert [row[:3] for row in now] == [row[:3] for row in then]
    for (*_, ours), (*_, theirs) in zip(now, then, strict=True):
        assert ours == pytest.approx(theirs, abs=2e-5)
