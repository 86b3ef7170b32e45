"""What the service says of itself: models, health, log and figures."""

import asyncio
import json
from io import BytesIO
from pathlib import Path
from shutil import copytree

import httpx
import pytest

from app.serving.keys import KeysFile
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


@pytest.mark.parametrize("average", ["micro", "macro"])
async def test_the_curve_says_what_to_expect_with_intervals(
    client: httpx.AsyncClient, average: str
) -> None:
    told = (await client.get(f"/models/tiny/curve?average={average}")).json()
    assert (told["model"], told["average"]) == ("tiny", average)
    assert told["documents"] > 0
    assert 1 < told["label_cardinality"] < 3
    recalls = [point["recall"] for point in told["points"]]
    assert recalls == sorted(recalls)
    for point in told["points"]:
        for name in ("precision", "recall"):
            low, high = point[f"{name}_interval"]
            assert 0 <= low <= point[name] <= high <= 1
    assert (await client.get("/models/tiny/curve?average=none")).status_code == 422
    assert (await client.get("/models/other/curve")).status_code == 404


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


async def test_a_model_that_cannot_be_loaded_says_why_and_may_be_asked_for_later(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    for name in ("broken", "tiny"):
        copytree(tiny_models / "tiny", models / name)
    (version,) = [path.name for path in (models / "tiny").iterdir() if path.is_dir()]
    (models / "broken" / version / "labels.npy").write_bytes(b"damaged")
    async with opened(models_dir=models, default_model="tiny") as client:
        found = (await client.get("/models")).json()
        broken, tiny = found["models"]
        assert found["default"] == "tiny"
        assert (tiny["version"], tiny["versions"]) == (version, [version])
        assert "failed" not in tiny
        assert broken.keys() == {"name", "state", "failed"}
        assert (tiny["state"], broken["state"]) == ("ready", "failed")
        assert broken["failed"]["version"] == version
        assert broken["failed"]["reason"]
        assert (await client.get("/health/ready")).status_code == 200  # the default is there
        answer = await client.post("/predict", json={"documents": ["a"], "model": "broken"})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert (await client.get("/v2/models/broken/ready")).status_code == 503
        text = (await client.get("/metrics")).text
        assert 'labelserve_model_load_failures_total{model="broken",reason="' in text
    async with opened(models_dir=models) as client:
        assert (await client.get("/health/ready")).json()["missing"] == ["broken"]


async def test_a_version_that_fails_to_load_is_shown_beside_the_one_that_answers(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    copytree(tiny_models / "tiny", tmp_path / "models" / "tiny")
    current = tmp_path / "models" / "tiny" / "current"
    async with opened(models_dir=tmp_path / "models") as client:
        good = current.read_text().strip()
        current.write_text("20200101T000000-000000")
        client.service.look()  # type: ignore[attr-defined]
        model = (await client.get("/models/tiny")).json()
        assert model["version"] == good
        assert "not here" in model["failed"]["reason"]


async def test_a_new_model_is_found_though_the_folder_could_not_be_read_before(
    opened: Opened, tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / "models"
    async with opened(models_dir=models, poll_seconds=0.02) as client:
        registry, failed = client.service.registry, []  # type: ignore[attr-defined]

        def refresh() -> None:
            failed.append(True)
            raise OSError("the disk is away")

        with monkeypatch.context() as patch:
            patch.setattr(registry, "refresh", refresh)
            async with asyncio.timeout(30):
                while not failed:
                    await asyncio.sleep(0.01)
        copytree(tiny_models, models)
        async with asyncio.timeout(30):
            while (await client.get("/health/ready")).status_code != 200:
                await asyncio.sleep(0.01)
        found = (await client.get("/models")).json()["models"]
        assert [(one["name"], one["state"]) for one in found] == [("tiny", "ready")]


async def test_a_line_follows_each_request_soon(
    client: httpx.AsyncClient, log: BytesIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.http.request_log.FLUSH_SECONDS", 0.01)
    for number in (1, 2, 3):
        await client.get("/health/live")
        async with asyncio.timeout(30):
            while log.getvalue().count(b"\n") < number:
                await asyncio.sleep(0.01)
    assert log.getvalue().count(b'"route":"/health/live"') == 3


async def test_a_line_names_caller_version_size_and_whether_it_is_an_error(
    opened: Opened, log: BytesIO, tmp_path: Path
) -> None:
    key, secret = KeysFile(tmp_path / "keys.json").create(["predict", "evaluate"])
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        client.headers["authorization"] = f"Bearer {secret}"
        answer = await client.post("/predict", json={"documents": ["a"]})
        client.service.is_draining = True  # type: ignore[attr-defined]
        await client.post("/evaluate", content=b"", headers={"content-type": "text/csv"})
    good, bad = map(json.loads, log.getvalue().splitlines())
    assert (good["caller"], bad["caller"]) == (key.id, key.id)
    assert (good["version"], good["bytes"]) == (answer.json()["version"], len(answer.content))
    assert [line["level"] for line in (good, bad)] == ["info", "error"]
    assert good["method"] == "POST"
    assert good["seconds"] > 0
    assert secret not in log.getvalue().decode()


@pytest.mark.parametrize(("level", "n_lines"), [("debug", 1), ("warning", 0), ("error", 0)])
async def test_only_who_wants_information_gets_a_line_a_request(
    opened: Opened, log: BytesIO, level: str, n_lines: int
) -> None:
    async with opened(log_level=level) as client:
        await client.get("/health/live")
    assert log.getvalue().count(b"\n") == n_lines


async def test_labels_a_document_are_counted_document_by_document(
    client: httpx.AsyncClient,
) -> None:
    await client.post("/predict", json={"documents": ["a", "b", "c"], "top_k": 2})
    text = (await client.get("/metrics")).text
    assert 'labelserve_labels_per_document_sum{model="tiny"} 6.0' in text
    assert 'labelserve_labels_per_document_bucket{le="1.0",model="tiny"} 0.0' in text
    assert 'labelserve_labels_per_document_bucket{le="2.0",model="tiny"} 3.0' in text
