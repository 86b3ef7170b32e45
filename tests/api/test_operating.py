"""What the service says of itself: models, health, log and figures."""

import json
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_models_are_described_with_their_labels_page_by_page(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = (await client.get("/models")).json()["models"]
    assert found["name"] == "tiny"
    assert (found["learner"], found["vectorizer"]) == ("one-vs-rest", "tfidf")
    assert found["labels"] == 5
    assert found["figures"]["held_out"]["micro_f1"] > 0.9
    assert (await client.get("/models/tiny")).json() == found
    assert (await client.get("/models/other")).status_code == 404
    monkeypatch.setattr("app.api.routes.models.PAGE", 2)
    labels: list[str] = []
    cursor = ""
    while cursor is not None:
        page = (await client.get(f"/models/tiny/labels?cursor={cursor}")).json()
        labels += page["labels"]
        cursor = page.get("cursor")
    assert labels == ["billing", "crash", "login", "printer", "shipping"]
    assert (await client.get("/models/tiny/labels?q=IN")).json()["labels"] == ["billing", "login"]


async def test_ready_means_every_required_model_is_loaded(opened: Opened, tmp_path: Path) -> None:
    async with opened(required_models="tiny,other") as client:
        answer = await client.get("/health/ready")
        assert (answer.status_code, answer.json()["missing"]) == (503, ["other"])
        assert (await client.get("/health/live")).status_code == 200
        assert (await client.post("/predict", json={"documents": ["a"]})).status_code == 200
    async with opened(models_dir=tmp_path / "nothing") as client:
        assert (await client.get("/health/ready")).status_code == 503
        answer = await client.post("/predict", json={"documents": ["a"]})
        assert answer.status_code == 422


async def test_a_line_a_request_tells_everything_but_words(
    client: httpx.AsyncClient, log: BytesIO
) -> None:
    headers = {"traceparent": TRACE, "x-request-id": "seven"}
    await client.post("/predict", json={"documents": ["secret words"]}, headers=headers)
    await client.get("/models/secret?words=1")
    await client.get("/secret/words")
    app = client._transport.app  # type: ignore[attr-defined]
    app.request_middleware._log.flush()
    text = log.getvalue().decode()
    assert "secret" not in text
    first, second, third = map(json.loads, text.splitlines())
    assert first["request_id"] == "seven"
    assert first["trace_id"] == TRACE.split("-")[1]
    assert (first["model"], first["documents"], first["status"]) == ("tiny", 1, 200)
    assert (second["route"], second["status"]) == ("/models/{name}", 404)
    assert third["route"] == "unrouted"


async def test_figures_have_their_names_and_bounded_labels(client: httpx.AsyncClient) -> None:
    await client.post("/predict", json={"documents": ["paper jam", "invoice"]})
    for number in range(5):
        await client.get(f"/made/up/{number}")
        await client.request(f"MADEUP{number}", "/models")
    text = (await client.get("/metrics")).text
    assert 'labelserve_documents_total{model="tiny",route="/predict"} 2.0' in text
    assert 'labelserve_model_info{model="tiny",version="' in text
    assert 'labelserve_stage_seconds_count{stage="predict"} 1.0' in text
    assert 'labelserve_labels_per_document_count{model="tiny"} 2.0' in text
    assert "made" not in text.lower()


async def test_many_large_bodies_at_once_are_refused_before_they_are_read(
    client: httpx.AsyncClient,
) -> None:
    service = client.service  # type: ignore[attr-defined]
    body = {"documents": ["a" * 100_000]}
    with service.bodies.admit(service.bodies.capacity):
        assert (await client.post("/predict", json=body)).status_code == 429
        assert (await client.post("/predict", json={"documents": ["a"]})).status_code == 200
    assert (await client.post("/predict", json=body)).status_code == 200


async def test_the_log_is_whole_at_the_end_and_not_being_ready_yet_is_no_error_in_it(
    opened: Opened, log: BytesIO, tmp_path: Path
) -> None:
    async with opened(models_dir=tmp_path) as client:
        assert (await client.get("/health/ready")).status_code == 503
        assert (await client.post("/predict", json={"documents": ["a"]})).status_code == 422
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["status"], line["level"]) for line in lines] == [(503, "info"), (422, "info")]
