"""A models folder that is out of reach: what was loaded goes on, and the log says why."""

import resource
import shutil
from pathlib import Path

import httpx
import pytest

from app.artifacts.store import Store
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

FAILED = "labelserve_models_folder_failures_total"
ASKED = {"documents": ["refund the invoice"]}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


def is_said(server: Server, words: str) -> bool:
    return any(words in line.get("message", "") for line in lines(server.log))


def test_a_models_folder_that_vanishes_and_comes_back_stops_nobody(
    started: Started, models: Path
) -> None:
    server = started(models_dir=models, poll_seconds=0.05)
    away, before = models.with_name("away"), server.metric(FAILED)
    models.rename(away)
    with server.client() as client:
        wait_until(lambda: server.metric(FAILED) > before + 2)
        assert client.post("/predict", json=ASKED).status_code == 200
        assert client.get("/health/ready").status_code == 200
        refused = client.post("/evaluate", content=LINE, headers=NDJSON)
        assert (refused.status_code, refused.json()["type"][-17:]) == (503, "model-unavailable")
        models.mkdir()  # as a file system that is not mounted
        seen = server.metric(FAILED)
        wait_until(lambda: server.metric(FAILED) > seen)
        assert client.post("/predict", json=ASKED).status_code == 200
        models.rmdir()
        away.rename(models)
        first = Store(models).versions("tiny")[0]
        second = f"{first[:-1]}{'0' if first[-1] != '0' else '1'}"
        shutil.copytree(models / "tiny" / first, models / "tiny" / second)
        (models / "tiny" / "current").write_text(second)
        wait_until(lambda: "failed" in client.get("/models/tiny").json())  # it was looked at again
        assert client.post("/evaluate", content=LINE, headers=NDJSON).status_code == 200
    assert is_said(server, f"{models} cannot be looked at: ENOENT (2)")


def test_a_server_without_free_descriptors_goes_on_with_what_it_has_loaded(
    started: Started, models: Path
) -> None:
    server = started(models_dir=models, poll_seconds=0.05)
    with server.client() as client:
        assert client.post("/predict", json=ASKED).status_code == 200
        before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        wait_until(lambda: is_said(server, "cannot be looked at: EMFILE (24)"))
        for _ in range(20):
            assert client.post("/predict", json=ASKED).status_code == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
        assert client.get("/models").json()["models"][0]["name"] == "tiny"
    assert server.metric(f'{FAILED}{{reason="EMFILE"}}') > 0


def test_a_models_folder_that_is_missing_at_the_start_is_told_of_and_waited_for(
    started: Started, models: Path
) -> None:
    away = models.rename(models.with_name("away"))
    server = started(wait=False, models_dir=models, poll_seconds=0.05)
    wait_until(lambda: is_said(server, f"there is no models folder {models}"))
    assert httpx.get(f"{server.url}/health/ready").status_code == 503
    away.rename(models)
    wait_until(lambda: httpx.get(f"{server.url}/health/ready").status_code == 200)
