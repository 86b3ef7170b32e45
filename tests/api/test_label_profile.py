"""GET /models/{name}/label: what a model knows about one label."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.artifacts.store import Store
from app.datasets.collection import Collection
from app.decisions.decision import Decision
from app.model import load_model
from app.prediction.label_profile import label_profile
from app.training.publish import publish
from app.training.recipe import read_recipe
from app.training.relabel import relabel
from app.training.train import TrainingJob, train
from tests.api.conftest import Opened
from tests.conftest import FILLER, TOPICS
from tests.decisions.scored_model import classifier_of, store
from tests.hand_rules.made_up import ruled

pytestmark = pytest.mark.anyio


async def profile(client: httpx.AsyncClient, label: str, **params: Any) -> dict[str, Any]:
    names = (await client.get("/models")).json()["models"]
    params |= {"label": label}
    answer = await client.get(f"/models/{names[0]['name']}/label", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["x-model-version"] == names[0]["version"]
    return found


async def test_the_words_of_a_topic_speak_for_its_label_and_those_of_others_against_it(
    client: httpx.AsyncClient,
) -> None:
    (trained,) = (await profile(client, "printer", terms=5))["trained"]
    others = {word for topic, words in TOPICS.items() for word in words.split()}
    speaks_for = [term["term"] for term in trained["terms_for"]]
    assert len(speaks_for) == 5
    assert set(speaks_for) <= set(TOPICS["printer"].split())
    assert {term["term"] for term in trained["terms_against"]} <= others | set(FILLER.split())
    weights = [term["weight"] for term in trained["terms_for"]]
    assert weights == sorted(weights, reverse=True)
    assert all(term["weight"] < 0 for term in trained["terms_against"])


async def test_a_weight_and_the_bias_are_those_that_answers_are_explained_by(
    client: httpx.AsyncClient,
) -> None:
    (trained,) = (await profile(client, "printer"))["trained"]
    body = {"documents": ["toner"], "labels": ["printer"], "top_k": 1, "explain": 1}
    answer = (await client.post("/predict", json=body)).json()
    (label,) = answer["predictions"][0]["labels"]
    (weight,) = [t["weight"] for t in trained["terms_for"] if t["term"] == "toner"]
    assert label["because"][0]["weight"] == pytest.approx(weight, abs=1e-5)  # its value is 1
    assert label["bias"] == pytest.approx(trained["bias"], abs=1e-5)


async def test_the_cut_is_the_one_applied_and_its_counts_lie_on_the_hull(
    client: httpx.AsyncClient,
) -> None:
    (trained,) = (await profile(client, "billing"))["trained"]
    body = {"documents": ["refund the invoice payment"]}
    answer = (await client.post("/predict", json=body)).json()
    (label,) = answer["predictions"][0]["labels"]
    assert trained["threshold"] == pytest.approx(label["threshold"], abs=1e-5)
    counts = trained["held_out"]
    assert counts["documents"] == 120
    assert counts["positives"] == trained["training_documents"] == counts["hull"][-1]["tp"]
    assert 0.9 * counts["positives"] < counts["tp"] <= counts["positives"]
    rows = [(point["tp"], point["fp"]) for point in counts["hull"]]
    assert rows == sorted(rows)
    probabilities = [point["probability"] for point in counts["hull"]]
    assert probabilities == sorted(probabilities, reverse=True)


async def test_a_label_has_its_name_description_and_ancestors(
    opened: Opened, named_models: Path
) -> None:
    async with opened(models_dir=named_models) as client:
        billing, login = await profile(client, "billing"), await profile(client, "login")
    assert billing["name"] == "Rechnung & <b>Zahlung</b>"
    assert billing["description"] == "what is owed"
    assert billing["ancestors"] == [{"label": "money", "name": "Geld", "is_answered": False}]
    above = [(one["label"], one["is_answered"]) for one in login["ancestors"]]
    assert above == [("crash", True), ("trouble", False), ("all", False)]


async def test_a_merged_label_has_the_figures_of_each_that_it_was_merged_from(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_models, tmp_path / "models")
    models = Store(tmp_path / "models")
    renamed = {"crash": "fault", "login": "fault"}
    publish(relabel(load_model(models, "tiny"), renamed).trained, models, "tiny")
    async with opened(models_dir=models.path) as client:
        fault = await profile(client, "fault")
        assert [one["label"] for one in fault["trained"]] == ["crash", "login"]
        gone = await client.get("/models/tiny/label", params={"label": "crash"})
        assert gone.status_code == 422


async def test_hand_written_rules_over_a_label_are_listed(opened: Opened, tmp_path: Path) -> None:
    scores = np.array([[2.0, 1.0]], np.float32)
    rules = (("label001", "forbid", "term0 & !term1"), ("label000", "assign", "term1"))
    classifier = ruled(classifier_of(scores, Decision(np.zeros(2, np.float32), "zero")), *rules)
    store(classifier, scores, tmp_path / "models")
    async with opened(models_dir=tmp_path / "models") as client:
        found = await profile(client, "label001")
    assert found["hand_rules"] == [{"when": "term0 & !term1", "then": "forbid"}]


async def test_a_label_that_the_model_does_not_have_is_refused_and_not_echoed(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/models/tiny/label", params={"label": "<b>secret</b>"})
    assert (answer.status_code, answer.json()["type"][-15:]) == (422, "invalid-request")
    assert "secret" not in answer.text
    assert (await client.get("/models/other/label?label=a")).status_code == 404


@pytest.mark.parametrize(("learner", "has_rules"), [("rules", True), ("knn", False)])
def test_a_learner_without_weights_gives_its_rules_or_says_that_it_has_none(
    corpus: Collection, learner: str, has_rules: bool
) -> None:
    job = TrainingJob(corpus, read_recipe(None, learner=learner))
    trained = train(job)
    counts = trained.info.training_counts
    (found,) = label_profile(trained.classifier, counts, "printer", 5).trained
    assert (found.bias, found.terms_for, found.terms_against) == (None, [], [])
    assert found.unexplained == ([] if has_rules else [learner])
    words = {word for rule in found.rules for word in rule.rule.replace("!", "").split(" & ")}
    assert bool(words & set(TOPICS["printer"].split())) == has_rules
    assert [rule.score for rule in found.rules] == sorted(
        (rule.score for rule in found.rules), reverse=True
    )
