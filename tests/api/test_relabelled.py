"""A relabelled model behind every route: the same labels, and what is not known is left out."""

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.artifacts.store import Store
from app.model import load_model
from app.training.publish import publish
from app.training.relabel import relabel
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

LOGIN, PRINTER = "password reset token login locked crash", "paper jam in the tray, toner"
RENAMED = {"crash": "fault", "login": "fault", "printer": "", "shipping": "parcels"}


@pytest.fixture(scope="module")
def relabelled_models(named_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("relabelled") / "models"
    shutil.copytree(named_models, folder)
    store = Store(folder)
    publish(relabel(load_model(store, "named"), RENAMED).trained, store, "named")
    return folder


def names(prediction: dict[str, Any]) -> list[str]:
    return [label["label"] for label in prediction["labels"]]


async def everywhere(client: httpx.AsyncClient, **fields: Any) -> list[list[str]]:
    """The labels of both texts by /predict, as JSON and as a stream, and by /v2; all the same."""
    texts = [LOGIN, PRINTER]
    answer = await client.post("/predict", json={"documents": texts, **fields})
    assert answer.status_code == 200, answer.text
    lines = await client.post(
        "/predict",
        params=fields,
        content="\n".join(map(json.dumps, texts)),
        headers={"content-type": "application/x-ndjson"},
    )
    tensor = {"name": "text", "datatype": "BYTES", "shape": [2], "data": texts}
    infer = await client.post(
        "/v2/models/named/infer", json={"inputs": [tensor], "parameters": fields}
    )
    found = list(map(names, answer.json()["predictions"]))
    assert [names(json.loads(line)) for line in lines.text.splitlines()] == found
    assert [names(json.loads(one)) for one in infer.json()["outputs"][0]["data"]] == found
    return found


async def test_every_route_answers_with_the_new_labels(
    opened: Opened, relabelled_models: Path
) -> None:
    async with opened(models_dir=relabelled_models) as client:
        assert await everywhere(client) == [["fault"], []]
        ranked = await everywhere(client, top_k=9)
        assert [sorted(labels) for labels in ranked] == [["billing", "fault", "parcels"]] * 2
        assert await everywhere(client, top_k=1, labels=["parcels"]) == [["parcels"]] * 2
        assert (await client.get("/models/named")).json()["labels"] == 3
        page = (await client.get("/models/named/labels")).json()
        assert page["labels"] == ["billing", "fault", "parcels"]
        assert page["names"]["fault"] == "Absturz"
        for old in ("crash", "printer"):
            asked = {"documents": [LOGIN], "labels": [old]}
            assert (await client.post("/predict", json=asked)).status_code == 422


async def test_what_was_seen_before_a_merge_is_not_promised_after_it(
    opened: Opened, relabelled_models: Path
) -> None:
    async with opened(models_dir=relabelled_models) as client:
        for point in ("tuned", "precision>=0.9", "each:precision>=0.8"):
            asked = {"documents": [LOGIN], "operating_point": point, "ancestors": True}
            answer = (await client.post("/predict", json=asked)).json()
            assert answer["operating_point"].keys() <= {"name", "not_assigned", "n_not_assigned"}
            (fault,) = answer["predictions"][0]["labels"]
            assert fault["ancestors"][0] == {"label": "trouble"}
            assert fault["score"] > fault["threshold"]
        assert (await client.get("/models/named/curve")).status_code == 422


@pytest.mark.slow
async def test_an_evaluation_counts_what_predictions_answer(
    opened: Opened, relabelled_models: Path, corpus_file: Path
) -> None:
    records = [json.loads(line) for line in corpus_file.read_text().splitlines()[:40]]
    async with opened(models_dir=relabelled_models) as client:
        asked = {"documents": [one["text"] for one in records], "operating_point": "f2"}
        answer = (await client.post("/predict", json=asked)).json()
        report = await client.post(
            "/evaluate?decision=f2",
            content="\n".join(map(json.dumps, records)),
            headers={"content-type": "application/x-ndjson"},
        )
        refused = await client.post(
            "/evaluate?decision=proportion:1",
            content=json.dumps(records[0]),
            headers={"content-type": "application/x-ndjson"},
        )
    assigned = [label for prediction in answer["predictions"] for label in names(prediction)]
    for entry in report.json()["labels"]:
        assert entry["tp"] + entry["fp"] == assigned.count(entry["label"])
    assert refused.status_code == 422
    assert "relabelled" in refused.json()["detail"]
