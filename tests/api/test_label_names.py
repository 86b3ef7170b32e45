"""Names and ancestors of a labels file in what the service answers."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api import predictor
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

BILLING, LOGIN = "refund the invoice payment", "password reset token login locked"
ABOVE_LOGIN = [
    {"label": "crash", "name": "Absturz"},
    {"label": "trouble"},
    {"label": "all", "name": "Alles"},
]


async def first_labels(client: httpx.AsyncClient, **fields: Any) -> list[dict[str, Any]]:
    answer = await client.post("/predict", json={"documents": [BILLING, LOGIN], **fields})
    assert answer.status_code == 200, answer.text
    return [prediction["labels"][0] for prediction in answer.json()["predictions"]]


async def test_a_label_has_its_name_and_its_ancestors_only_where_asked(
    opened: Opened, named_models: Path
) -> None:
    async with opened(models_dir=named_models) as client:
        billing, login = await first_labels(client)
        assert (billing["label"], billing["name"]) == ("billing", "Rechnung & <b>Zahlung</b>")
        assert (login["label"], login["name"]) == ("login", "תקלה בכניסה")
        assert "ancestors" not in billing
        billing, login = await first_labels(client, ancestors=True)
        assert billing["ancestors"] == [{"label": "money", "name": "Geld"}]
        assert login["ancestors"] == ABOVE_LOGIN
        (answer,) = await first_labels(client, documents=["toner"], ancestors=True, top_k=1)
        assert answer["label"] == "printer"
        assert (answer.get("name"), answer["ancestors"]) == (None, [])


async def test_a_name_changes_nothing_else_in_an_answer(
    opened: Opened, named_models: Path, client: httpx.AsyncClient
) -> None:
    async with opened(models_dir=named_models) as other:
        for fields in ({}, {"top_k": 3}, {"explain": 2}, {"operating_point": "f2"}):
            plain = await first_labels(client, **fields)
            named = await first_labels(other, **fields)
            assert all(label.pop("name") for label in named)
            assert named == plain


async def test_streams_and_tensors_have_names_and_ancestors_too(
    opened: Opened, named_models: Path
) -> None:
    async with opened(models_dir=named_models) as client:
        lines = await client.post(
            "/predict?ancestors=true",
            content=json.dumps(LOGIN),
            headers={"content-type": "application/x-ndjson"},
        )
        tensor = {"name": "text", "datatype": "BYTES", "shape": [1], "data": [LOGIN]}
        body = {"inputs": [tensor], "parameters": {"ancestors": True}}
        tensors = (await client.post("/v2/models/named/infer", json=body)).json()
        streamed = lines.json()["labels"][0]
        assert json.loads(tensors["outputs"][0]["data"][0])["labels"][0] == streamed
        assert (streamed["name"], streamed["ancestors"]) == ("תקלה בכניסה", ABOVE_LOGIN)


async def test_a_model_without_a_labels_file_knows_no_ancestors(client: httpx.AsyncClient) -> None:
    answer = await client.post("/predict", json={"documents": ["a"], "ancestors": True})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/ancestors"


async def test_ancestors_count_among_what_an_answer_may_hold(
    opened: Opened, named_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictor, "MOST_ANSWERS", 5)
    async with opened(models_dir=named_models) as client:
        asked = {"documents": [LOGIN], "top_k": 5}
        assert (await client.post("/predict", json=asked)).status_code == 200
        refused = await client.post("/predict", json={**asked, "ancestors": True})
        assert refused.status_code == 422
        assert "would come back" in refused.json()["detail"]


async def test_labels_are_found_by_their_names(opened: Opened, named_models: Path) -> None:
    async with opened(models_dir=named_models) as client:
        found = (await client.get("/models/named/labels?q=ABSTURZ")).json()
        assert found["labels"] == ["crash", "shipping"]
        assert found["names"] == {"crash": "Absturz", "shipping": "Absturz"}
        everything = (await client.get("/models/named/labels")).json()
        assert everything["labels"][3] == "printer"
        assert "printer" not in everything["names"]
        assert (await client.get("/models/named/labels?q=ing")).json()["labels"] == [
            "billing",
            "shipping",
        ]
