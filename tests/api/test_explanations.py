"""Explanations: the words that decided, exact, with their places."""

import random
from pathlib import Path

import httpx
import pytest

from app.artifacts.store import Store
from app.explanation import explain
from app.learners.base import Learner
from app.model import load_model
from tests.conftest import FILLER, TOPICS

WORDS = [*FILLER.split(), *(word for words in TOPICS.values() for word in words.split()), "unheard"]


def test_the_parts_of_a_thousand_explanations_sum_to_the_scores(tiny_models: Path) -> None:
    classifier = load_model(Store(tiny_models), "tiny").classifier
    pick = random.Random(0)
    texts = [" ".join(pick.choices(WORDS, k=pick.randrange(0, 30))) for _ in range(1000)]
    scores = classifier.scores(texts)
    for text, row in zip(texts, scores, strict=True):
        label = pick.randrange(len(row))
        (found,) = explain(classifier, text, [label], 3)
        total = sum(reason.weight for reason in found.because) + found.bias + found.rest
        assert total == pytest.approx(row[label], abs=1e-4)
        assert len(found.because) <= 3
        weights = [abs(reason.weight) for reason in found.because]
        assert weights == sorted(weights, reverse=True)


@pytest.mark.anyio
async def test_offsets_count_code_points_of_the_text_as_sent(client: httpx.AsyncClient) -> None:
    text = "\U0001f600 Ünpaid INVOICE — the invoice, charged"
    body = {"documents": [text], "explain": 2, "labels": ["billing"], "top_k": 1}
    answer = await client.post("/predict", json=body)
    assert answer.status_code == 200, answer.text
    label = answer.json()["predictions"][0]["labels"][0]
    places = {reason["term"]: reason["at"] for reason in label["because"]}
    assert {text[a:b].lower() for a, b in places["invoice"]} == {"invoice"}
    assert len(places["invoice"]) == 2
    total = sum(r["weight"] for r in label["because"]) + label["bias"] + label["rest"]
    assert total == pytest.approx(label["score"], abs=1e-4)


@pytest.mark.anyio
async def test_a_learner_that_cannot_explain_says_so(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = client.service  # type: ignore[attr-defined]
    learner = service.registry.get("tiny").model.classifier.members[0].learner
    monkeypatch.setattr(type(learner), "contributions", Learner.contributions)
    answer = await client.post("/predict", json={"documents": ["invoice"], "explain": 2})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/explain"
    assert f"{learner.kind} cannot explain" in answer.json()["detail"]
