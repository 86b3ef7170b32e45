"""A version that is made current over HTTP is taken over by every worker."""

import shutil
from pathlib import Path

import httpx

from app.artifacts.store import Store
from app.model import load_model
from tests.reliability.conftest import Started
from tests.reliability.servers import lines, wait_until


def test_all_workers_answer_with_a_version_that_one_of_them_made_current(
    started: Started, tiny_models: Path, tmp_path: Path
) -> None:
    store = Store(Path(shutil.copytree(tiny_models, tmp_path / "models")))
    tiny = load_model(store, "tiny")
    old = tiny.version
    store.promote("tiny", store.write("tiny", tiny.classifier.state(), tiny.info()))
    server = started(models_dir=store.path, workers=2, poll_seconds=0.1)
    with server.client() as client:
        answer = client.put("/models/tiny/current", json={"version": old})
        assert (answer.status_code, answer.json()["version"]) == (200, old)

    def versions() -> set[str]:
        asked = (httpx.get(f"{server.url}/models/tiny").json() for _ in range(20))
        return {found["version"] for found in asked}

    wait_until(lambda: versions() == {old})
    audits = [line for line in lines(server.log) if line.get("logger") == "labelserve.audit"]
    assert [line["message"].split()[:3] for line in audits] == [["anyone", "made", f"tiny@{old}"]]
