"""Every rule of the catalogue over HTTP: stored in a model, or asked for by name."""

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.decisions.decision import Decision
from app.decisions.names import rules
from tests.api.conftest import Opened
from tests.decisions.scored_model import (
    basis_of,
    classifier_of,
    label_sets,
    marked,
    records_of,
    store,
    texts_of,
)

pytestmark = pytest.mark.anyio

SCORES = (np.round(np.random.default_rng(1).standard_normal((8, 5)) * 2) / 2).astype(np.float32)
NDJSON = {"content-type": "application/x-ndjson"}
STORED = [rule for rule in rules() if not hasattr(rule, "batch_decision")]


async def alone(client: httpx.AsyncClient, texts: list[str]) -> str:
    """The predictions of requests with one text each, as JSON lines."""
    answers = [await client.post("/predict", json={"documents": [text]}) for text in texts]
    return "\n".join(json.dumps(answer.json()["predictions"][0]) for answer in answers)


@pytest.mark.parametrize("kind", STORED)
async def test_a_stored_rule_is_what_predict_applies(
    kind: Any, opened: Opened, tmp_path: Path
) -> None:
    decision = kind.read(kind.examples[-1]).decision(basis_of(5))
    classifier, texts = classifier_of(SCORES, decision), texts_of(SCORES)
    store(classifier, SCORES, tmp_path / "models")
    expected = marked(SCORES, classifier.decide(texts))
    async with opened(models_dir=tmp_path / "models") as client:
        together = (await client.post("/predict", json={"documents": texts})).json()
        lines = "\n".join(json.dumps({"text": text}) for text in texts)
        streamed = await client.post("/predict", content=lines.encode(), headers=NDJSON)
        one_by_one = await alone(client, texts)
        listed = (await client.get("/models/made")).json()
    as_lines = "\n".join(map(json.dumps, together["predictions"]))
    assert label_sets(classifier, as_lines) == expected
    assert label_sets(classifier, streamed.text) == expected
    assert label_sets(classifier, one_by_one) == expected
    assert listed["decision"] == decision.name


async def test_a_rule_is_evaluated_by_its_name(opened: Opened, tmp_path: Path) -> None:
    (kind,) = [rule for rule in STORED if rule.syntax == "rank:K,CUT"]
    decision = kind.read("rank:2,0.5").decision(basis_of(5))
    classifier = classifier_of(SCORES, Decision(None, "rank:1", 1))
    store(classifier, SCORES, tmp_path / "models")
    documents = [
        json.dumps({"text": record.text, "labels": record.labels})
        for record in records_of(classifier, SCORES)
    ]
    async with opened(models_dir=tmp_path / "models") as client:
        answer = await client.post(
            "/evaluate",
            params={"decision": "rank:2,0.5"},
            content="\n".join(documents).encode(),
            headers=NDJSON,
        )
    report = answer.json()
    given = [label["tp"] + label["fp"] for label in report["labels"]]
    assert given == decision.decide(SCORES).sum(axis=0).tolist()
    assert report["conventions"]["decision"] == "rank:2,0.5"
