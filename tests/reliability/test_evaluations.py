"""Evaluations handed in to a real server with a worker of its own."""

import gzip
import hashlib
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.artifacts.store import Store
from app.model import load_model
from app.serving.keys import KeysFile
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
MANUAL = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
OLD = "20261115T120000-1f3c9a"
SHA256 = hashlib.sha256(LINE).hexdigest()


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> tuple[Path, str]:
    """A folder with the same model as `demo` and, in two versions, `news`; the older of these."""
    tiny, store = load_model(Store(tiny_models), "tiny"), Store(tmp_path / "models")
    state, info = tiny.classifier.state(), tiny.info()
    old = store.write("news", state, info)
    for name in ("news", "demo"):
        store.promote(name, store.write(name, state, info))
    return store.path, old


def events(answer: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        if line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_the_batch_of_the_manual_is_evaluated_with_the_reports_that_evaluate_gives(
    started: Started, models: tuple[Path, str], corpus_file: Path, tmp_path: Path
) -> None:
    folder, old = models
    corpus = corpus_file.read_bytes()
    (tmp_path / "march.jsonl").write_bytes(corpus)
    (tmp_path / "april.jsonl.gz").write_bytes(gzip.compress(LINE))
    server = started(models_dir=folder, workers=2)
    (command,) = re.findall(r"^curl '\S+/evaluations\?.*\\\n.*", MANUAL, re.MULTILINE)
    command = command.replace("localhost:8000", server.url).replace(OLD, old)
    sent = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=True)  # noqa: S602
    found = json.loads(sent.stdout)["evaluations"]
    pairs = [(one["name"], one["model"], one["version"] == old) for one in found]
    assert pairs == [
        (name, model, is_old)
        for name in ("march.jsonl", "april.jsonl.gz")
        for model, is_old in (("demo", False), ("news", False), ("news", True))
    ]
    assert len({one["batch"] for one in found}) == 1
    with server.client() as client:
        with client.stream("GET", f"/evaluations/{found[-1]['id']}/events") as answer:
            names, ended = zip(*events(answer), strict=True)
        assert (names[-1], ended[-1]["state"]) == ("end", "done")
        wait_until(lambda: is_all_done(client), 300)
        direct = client.post(
            "/evaluate?bootstrap=1000&model=demo", content=corpus, headers=NDJSON
        ).json()
        kept = client.get(f"/evaluations/{found[0]['id']}/report").json()
        page = client.get(f"/evaluations/{found[0]['id']}/report", headers={"accept": "text/html"})
        first = client.get(f"/evaluations/{found[0]['id']}").json()
    for report in (kept, direct):
        del report["seconds"]
    assert kept == direct
    assert "<h1>demo@" in page.text
    assert first["figures"]["micro.f1"] == kept["decisions"]["micro"]["f1"]
    assert first["data"] == kept["data"]["sha256"] == hashlib.sha256(corpus).hexdigest()
    wait_until(lambda: server.metric("labelserve_evaluation_seconds_count") == 6)
    wait_until(lambda: server.metric("labelserve_evaluations") == 0)


def is_all_done(client: httpx.Client) -> bool:
    return {one["state"] for one in client.get("/evaluations").json()["evaluations"]} == {"done"}


def test_a_revoked_key_ends_its_upload_its_events_and_its_evaluations(
    started: Started, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    (gone, secret), (_, other) = (keys.create(["evaluate"]) for _ in range(2))
    server = started(api_keys_file=tmp_path / "keys.json", job_workers=0)
    headers = {"authorization": f"Bearer {secret}", **NDJSON}
    is_following, is_over = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        while not is_over.wait(0.1):
            yield LINE

    def status(method: str, path: str) -> int:
        with server.client(headers=headers) as client:
            return client.request(method, path, content=slowly()).status_code

    def followed(id: str) -> list[tuple[str, dict[str, Any]]]:
        with (
            server.client(headers=headers) as client,
            client.stream("GET", f"/evaluations/{id}/events") as answer,
        ):
            is_following.set()
            return list(events(answer))

    with server.client(headers=headers) as client, ThreadPoolExecutor(3) as clients:
        id = client.post("/evaluations", content=LINE).json()["evaluations"][0]["id"]
        begun = [
            clients.submit(status, "POST", "/evaluations"),
            clients.submit(status, "PUT", f"/uploads/{SHA256}"),
        ]
        following = clients.submit(followed, id)
        wait_until(lambda: len(server.spool) == 2 and is_following.is_set())
        keys.revoke(gone.id)
        try:
            wait_until(lambda: sum(line.get("status") == 401 for line in lines(server.log)) == 2)
            is_over.set()  # the client reads no answer before it has sent its body
            assert [one.result(60) for one in begun] == [401, 401]
            names = [name for name, _ in following.result(60)]
        finally:
            is_over.set()
    assert names[0] == "progress"
    assert names[-1] in ("error", "end")  # whichever is seen first, the key or its evaluation
    with server.client(headers={"authorization": f"Bearer {other}"}) as client:
        wait_until(lambda: client.get(f"/evaluations/{id}").json()["state"] == "cancelled")
    assert server.spool == []


def test_an_upload_that_a_restart_cut_short_is_never_seen_and_leaves_nothing(
    started: Started, tmp_path: Path
) -> None:
    data_dir = tmp_path / "var"
    server = started(data_dir=data_dir, job_workers=0)
    is_over = threading.Event()

    def slowly() -> Iterator[bytes]:
        while not is_over.wait(0.05):
            yield LINE

    def put(server: Server, path: str, method: str) -> None:
        with server.client() as client, pytest.raises(httpx.TransportError):
            client.request(method, path, content=slowly(), headers=NDJSON)

    with ThreadPoolExecutor(2) as clients:
        begun = [
            clients.submit(put, server, f"/uploads/{SHA256}", "PUT"),
            clients.submit(put, server, "/evaluations", "POST"),
        ]
        wait_until(lambda: len(server.spool) == 2)
        os.kill(server.process.pid, signal.SIGKILL)
        is_over.set()
        for one in begun:
            one.result(60)
    again = started(data_dir=data_dir, job_workers=0)
    assert again.spool == []
    with again.client() as client:
        assert client.head(f"/uploads/{SHA256}").status_code == 404
        assert client.get("/evaluations").json()["evaluations"] == []
        assert client.put(f"/uploads/{SHA256}", content=LINE).status_code == 201
        for _ in range(2):  # the second time the file is not sent
            asked = client.post(f"/evaluations?upload={SHA256}")
            assert asked.status_code == 202
    assert [path.name for path in (data_dir / "uploads").glob("[0-9a-f]*")] == [SHA256]


def test_a_running_evaluation_is_cancelled_and_its_data_go_with_it(
    started: Started, tmp_path: Path
) -> None:
    server = started()
    with server.client() as client:
        answer = client.post("/evaluations?bootstrap=10000", content=LINE * 200_000, headers=NDJSON)
        id = answer.json()["evaluations"][0]["id"]
        path = f"/evaluations/{id}"
        wait_until(lambda: client.get(path).json()["state"] == "running")
        assert client.delete(path).json()["state"] == "cancelled"
        wait_until(lambda: not server.spool)  # the process that evaluated has ended
        assert client.delete(path).status_code == 204
        assert client.get(path).status_code == 404
    assert list((server.data_dir / "uploads").glob("[0-9a-f]*")) == []
