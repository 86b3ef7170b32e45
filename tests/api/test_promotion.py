"""PUT /models/{name}/current and GET /models/{name}/card: versions, and which of them answers."""

import logging
import os
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.artifacts.store import Store
from app.model import load_model
from app.serving.keys import KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

PATH = "/models/tiny/current"


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Store:
    """A store with two versions of `tiny`, of which the newer is current."""
    store = Store(Path(shutil.copytree(tiny_models, tmp_path / "models")))
    tiny = load_model(store, "tiny")
    store.promote("tiny", store.write("tiny", tiny.classifier.state(), tiny.info()))
    return store


async def put(client: httpx.AsyncClient, version: str, path: str = PATH) -> httpx.Response:
    return await client.put(path, json={"version": version})


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


async def test_a_version_answers_as_soon_as_it_was_made_current_and_the_log_says_by_whom(
    opened: Opened, models: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = models.versions("tiny")
    key, secret = KeysFile(tmp_path / "keys.json").create(["admin"])
    headers = {"authorization": f"Bearer {secret}"}
    caplog.set_level(logging.ERROR)  # of everything else, as LOG_LEVEL may be
    caplog.handler.setLevel(logging.NOTSET)
    async with opened(models_dir=models.path, api_keys_file=tmp_path / "keys.json") as client:
        client.headers.update(headers)
        answer = await put(client, old)
        assert (answer.status_code, answer.json()["version"]) == (200, old)
        predicted = await client.post("/predict", json={"documents": ["toner"]})
        assert predicted.json()["version"] == old
    assert models.current("tiny") == old
    lines = [r.getMessage() for r in caplog.get_records("call") if r.name == "labelserve.audit"]
    (line,) = lines
    assert line == f"{key.id} made tiny@{old} current in place of {new}"


async def test_what_is_not_there_is_404_and_what_is_no_version_422(
    opened: Opened, models: Store
) -> None:
    old, new = models.versions("tiny")
    async with opened(models_dir=models.path) as client:
        missing = await put(client, "20200101T000000-000000")
        assert problem(missing) == (404, "unknown-model")
        assert f"tiny@{old}" in missing.json()["detail"]
        assert problem(await put(client, old, "/models/other/current")) == (404, "unknown-model")
        assert problem(await put(client, "../tiny")) == (404, "unknown-model")
        bodies: list[Any] = [{}, {"version": 7}, {"version": old, "force": True}]
        for body in bodies:
            assert problem(await client.put(PATH, json=body)) == (422, "invalid-request")
    assert models.current("tiny") == new


async def test_a_damaged_version_is_a_conflict_and_nothing_changes(
    opened: Opened, models: Store, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = models.versions("tiny")
    file = next((models.path / "tiny" / old).glob("*.npy"))
    file.write_bytes(bytes(file.stat().st_size))
    async with opened(models_dir=models.path) as client:
        answer = await put(client, old)
        assert problem(answer) == (409, "conflict")
        assert "was not made current" in answer.json()["detail"]
        assert (await client.get("/models/tiny")).json()["version"] == new
    assert models.current("tiny") == new
    assert not [record for record in caplog.records if record.name == "labelserve.audit"]


async def test_a_read_only_models_folder_is_a_conflict_that_says_what_to_do(
    opened: Opened, models: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    async with opened(models_dir=models.path) as client:
        answer = await put(client, models.versions("tiny")[0])
        assert problem(answer) == (409, "conflict")
        assert "labelserve models use" in answer.json()["detail"]
        assert str(models.path) not in answer.text
        assert (await client.get("/models/tiny/card")).json()["may_promote"] is False


async def test_an_admin_of_some_models_promotes_no_others_and_learns_no_names(
    opened: Opened, models: Store, tmp_path: Path
) -> None:
    _, secret = KeysFile(tmp_path / "keys.json").create(["admin"], ["team-*"])
    async with opened(models_dir=models.path, api_keys_file=tmp_path / "keys.json") as client:
        client.headers["authorization"] = f"Bearer {secret}"
        version = models.versions("tiny")[0]
        assert problem(await put(client, version)) == (403, "forbidden")
        other = await put(client, version, "/models/team-a/current")
        assert problem(other) == (404, "unknown-model")
        assert "tiny" not in other.text


async def test_a_version_is_loaded_once_to_be_verified_and_to_answer(
    opened: Opened, models: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(models_dir=models.path) as client:
        loaded: list[str] = []

        def load(store: Store, reference: str) -> Any:
            loaded.append(reference)
            return load_model(store, reference)

        monkeypatch.setattr("app.serving.registry.load_model", load)
        old = models.versions("tiny")[0]
        assert (await put(client, old)).json()["version"] == old
    assert loaded == [f"tiny@{old}"]


async def test_the_version_that_answers_already_can_still_be_named_after_it_was_promoted_again(
    opened: Opened, models: Store
) -> None:
    new = models.versions("tiny")[1]
    async with opened(models_dir=models.path) as client:
        assert (await put(client, new)).json()["version"] == new
        body = {"documents": ["toner"], "model": f"tiny@{new}"}
        assert (await client.post("/predict", json=body)).status_code == 200


async def test_a_card_has_data_recipe_figures_reliability_and_every_version(
    opened: Opened, models: Store
) -> None:
    old, new = models.versions("tiny")
    async with opened(models_dir=models.path) as client:
        brief = (await client.get("/models/tiny")).json()
        card = (await client.get("/models/tiny/card")).json()
        assert (await client.get("/models/other/card")).status_code == 404
    assert brief.items() <= card.items()
    assert card["trained_on"]["documents"] == 120
    assert card["recipe"]["decision"]["name"] == card["decision"]
    assert {"timings", "packages", "seed", "data_sha256"} <= card.keys()
    assert card["bytes"] == sum(
        file.stat().st_size for file in (models.path / "tiny" / new).glob("*.npy")
    )
    assert all(0.1 <= one["probability"] <= 1 for one in card["reliability"])
    known = [(v["version"], v["is_current"], v["is_loaded"]) for v in card["stored"]]
    assert known == [(new, True, True), (old, False, False)]
    assert card["may_promote"] is True


async def test_the_card_of_a_model_that_failed_to_load_has_the_versions_to_roll_back_to(
    opened: Opened, models: Store
) -> None:
    old, new = models.versions("tiny")
    (models.path / "tiny" / new / "manifest.json").write_text("{}")
    async with opened(models_dir=models.path) as client:
        card = (await client.get("/models/tiny/card")).json()
        assert (card["state"], card["failed"]["version"]) == ("failed", new)
        assert [(v["version"], "problem" in v) for v in card["stored"]] == [
            (new, True),
            (old, False),
        ]
        assert (await put(client, old)).json()["state"] == "ready"
        assert "failed" not in (await client.get("/models/tiny")).json()
