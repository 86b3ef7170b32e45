"""A stored model with hand-written rules over HTTP: every way of asking has them applied."""

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.decisions.decision import Decision
from tests.api.conftest import Opened
from tests.decisions.scored_model import classifier_of, store, texts_of
from tests.hand_rules.made_up import ruled

pytestmark = pytest.mark.anyio

SCORES = np.array([[2.0, 1.0, -1.0], [-1.0, 2.0, 0.5]], np.float32)
ZERO = Decision(np.zeros(3, np.float32), "zero")
RULES = (
    ("label002", "assign", "term0 | absent"),
    ("label000", "forbid", "term0"),
    ("label001", "forbid", "term1"),
)
EXPECTED = [["label001", "label002"], ["label002"]]
TEXTS = texts_of(SCORES)
NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A store with one such model."""
    store(ruled(classifier_of(SCORES, ZERO), *RULES), SCORES, tmp_path / "models")
    return tmp_path / "models"


def labels(predictions: list[dict[str, Any]]) -> list[list[str]]:
    return [[label["label"] for label in one["labels"]] for one in predictions]


async def ask(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    answer = await client.post("/predict", json={"documents": TEXTS, **asked})
    found: list[dict[str, Any]] = answer.json()["predictions"]
    return found


async def test_json_lines_tensors_and_single_texts_are_answered_alike(
    opened: Opened, models: Path
) -> None:
    lines = "\n".join(json.dumps({"text": text}) for text in TEXTS)
    tensor = {"name": "text", "shape": [2], "datatype": "BYTES", "data": TEXTS}
    async with opened(models_dir=models) as client:
        together = await ask(client)
        alone = [(await ask(client, documents=[text]))[0] for text in TEXTS]
        streamed = await client.post("/predict", content=lines.encode(), headers=NDJSON)
        infer = await client.post("/v2/models/made/infer", json={"inputs": [tensor]})
    assert labels(together) == labels(alone) == EXPECTED
    assert labels([json.loads(line) for line in streamed.text.splitlines()]) == EXPECTED
    assert labels([json.loads(one) for one in infer.json()["outputs"][0]["data"]]) == EXPECTED


async def test_top_k_alone_leaves_out_what_is_forbidden(opened: Opened, models: Path) -> None:
    async with opened(models_dir=models) as client:
        ranked = await ask(client, top_k=2)
    assert labels(ranked) == [["label001", "label002"], ["label002", "label000"]]


async def test_what_a_rule_decided_is_not_below_its_cut(opened: Opened, models: Path) -> None:
    async with opened(models_dir=models) as client:
        found = await ask(client, below_cut=3)
    below = [[label["label"] for label in one["below_cut"]] for one in found]
    assert (labels(found), below) == (EXPECTED, [[], ["label000"]])


async def test_because_names_the_rule(opened: Opened, models: Path) -> None:
    async with opened(models_dir=models) as client:
        first = (await ask(client, explain=1))[0]["labels"]
    assert first[1]["because"][0] == {"rule": "term0 | absent", "weight": 0.0}
    assert "threshold" in first[0]
    assert "threshold" not in first[1]


async def test_an_evaluation_counts_what_predict_answers(opened: Opened, models: Path) -> None:
    documents = [{"text": TEXTS[0], "labels": ["label002"]}, {"text": TEXTS[1], "labels": []}]
    body = "\n".join(map(json.dumps, documents))
    async with opened(models_dir=models) as client:
        answer = await client.post("/evaluate", content=body.encode(), headers=NDJSON)
    cells = {one["label"]: (one["tp"], one["fp"], one["fn"]) for one in answer.json()["labels"]}
    assert cells == {"label000": (0, 0, 0), "label001": (0, 1, 0), "label002": (1, 1, 0)}
