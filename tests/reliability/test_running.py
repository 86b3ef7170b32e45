"""Load, slow clients, swaps, shutdown, several workers: the service stays up and stays right."""

import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import tritonclient.http

from app.artifacts.store import Store
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, free_port, lines, wait_until

LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
NDJSON = {"content-type": "application/x-ndjson"}
TEXTS = ["refund the invoice payment", "paper jam, toner", "crash and restart", "", "é İ ß 中文"]


def test_every_route_gives_a_document_the_same_labels(server: Server) -> None:
    with server.client() as client:
        alone = [
            client.post("/predict", json={"documents": [t]}).json()["predictions"][0] for t in TEXTS
        ]
        for size in (1, 7, 200):
            batch = client.post("/predict", json={"documents": TEXTS * size}).json()["predictions"]
            assert batch == alone * size
        body = "\n".join(map(json.dumps, TEXTS * 40))
        streamed = client.post("/predict", content=body, headers=NDJSON).text
        assert [json.loads(line) for line in streamed.splitlines()] == alone * 40
        tensor = {"name": "text", "shape": [len(TEXTS)], "datatype": "BYTES", "data": TEXTS}
        answer = client.post("/v2/models/tiny/infer", json={"inputs": [tensor]}).json()
        assert [json.loads(line) for line in answer["outputs"][0]["data"]] == alone


@pytest.mark.parametrize("binary", [True, False])
def test_a_client_library_of_the_inference_protocol_talks_to_it(
    server: Server, binary: bool
) -> None:
    client = tritonclient.http.InferenceServerClient(server.url.removeprefix("http://"))
    try:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("tiny")
        described = client.get_model_metadata("tiny")
        assert described["inputs"][0]["datatype"] == "BYTES"
        texts = np.array([text.encode() for text in TEXTS[:3]], dtype=np.object_)
        sent = tritonclient.http.InferInput("text", list(texts.shape), "BYTES")
        sent.set_data_from_numpy(texts, binary_data=binary)
        wanted = tritonclient.http.InferRequestedOutput("predictions", binary_data=binary)
        answer = client.infer("tiny", [sent], outputs=[wanted], request_id="7")
        found = [json.loads(line) for line in answer.as_numpy("predictions").tolist()]
        names = [[label["label"] for label in one["labels"]] for one in found]
        assert names == [["billing"], ["printer"], ["crash"]]
        with pytest.raises(tritonclient.utils.InferenceServerException, match="no such model"):
            client.infer("other", [sent])
    finally:
        client.close()


def test_overload_is_turned_away_quickly_and_passes(started: Started) -> None:
    server = started(max_concurrency=400)
    body = {"documents": ["refund the invoice payment please " * 5] * 400}
    answers: list[httpx.Response] = []

    def post(_: int) -> httpx.Response:
        return httpx.post(f"{server.url}/predict", json=body, timeout=60)

    with ThreadPoolExecutor(8) as clients, server.client() as client:
        waiting = clients.map(post, range(60))
        for _ in range(20):
            assert client.get("/health/ready").status_code == 200
            assert client.get("/health/live").status_code == 200
        answers = list(waiting)
        statuses = {answer.status_code for answer in answers}
        assert statuses == {200, 429}
        assert all(int(a.headers["retry-after"]) >= 1 for a in answers if a.status_code == 429)
        assert client.post("/predict", json=body).status_code == 200
        refused = 'labelserve_rejected_total{reason="too-many-requests"}'
        assert server.metric(refused) == sum(a.status_code == 429 for a in answers)


def test_slow_clients_are_cut_and_hinder_nobody(started: Started) -> None:
    server = started(request_seconds=1.5)
    host, port = server.url.removeprefix("http://").split(":")
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    lines = b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: "
    starts = [
        b"",
        b"POST /pre",
        head,
        head + b"Content-Length: 100\r\n\r\n{",
        b"POST /predict" + lines + b"100\r\n\r\n{",
        b"POST /predict" + lines + b"99999999\r\n\r\n{",
        b"POST /evaluate" + lines + b"100\r\n\r\n{",
    ]
    slow = [socket.create_connection((host, int(port))) for _ in range(200)]
    for number, connection in enumerate(slow):
        connection.sendall(starts[number % len(starts)])
    with server.client() as client:
        for _ in range(20):
            assert client.post("/predict", json={"documents": ["a"]}).status_code == 200
    for connection in slow:
        connection.settimeout(30)
        answer = connection.recv(65536)  # blocks until the server gives up on this connection
        assert not answer or answer.split()[1] in (b"504", b"429", b"200")
        if b" 200 " in answer:  # a stream, whose answer had begun
            assert connection.recv(65536) == b""
        connection.close()
    with server.client() as client:
        assert client.post("/predict", json={"documents": ["a"]}).status_code == 200


def test_swaps_under_load_lose_nothing_and_every_answer_is_of_its_version(
    started: Started, tiny_models: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    shutil.copytree(tiny_models, models)
    store = Store(models)
    first = store.versions("tiny")[0]
    second = _tripled(models, first)
    server = started(models_dir=models, poll_seconds=0.05)
    expected: dict[str, Any] = {}
    text = {"documents": ["refund the invoice payment"], "top_k": 1}
    with server.client() as client:
        for version in (first, second):
            store.promote("tiny", version)
            wait_until(lambda v=version: client.post("/predict", json=text).json()["version"] == v)
            expected[version] = client.post("/predict", json=text).json()["predictions"]
    assert expected[first] != expected[second]
    stop, seen = threading.Event(), set()

    def load() -> int:
        count = 0
        with server.client() as client:
            while not stop.is_set():
                answer = client.post("/predict", json=text)
                assert answer.status_code == 200
                found = answer.json()
                assert found["predictions"] == expected[found["version"]]
                seen.add(found["version"])
                count += 1
        return count

    before = server.memory
    with ThreadPoolExecutor(2) as clients:
        loads = [clients.submit(load) for _ in range(2)]
        for number in range(10):
            store.promote("tiny", (first, second)[number % 2])
            time.sleep(0.15)
        stop.set()
        assert sum(one.result() for one in loads) > 10
    assert seen == {first, second}
    assert server.memory - before < 32 << 20


def _tripled(models: Path, version: str) -> str:
    """Another version of the same model, with every weight tripled."""
    from dataclasses import replace

    from app.artifacts.info import Info
    from app.classifier import Classifier
    from app.model import compose_golden, load_model
    from app.state import State

    def changed(state: State) -> State:
        arrays = {
            name: array * np.float32(3) if name in ("weights", "values", "bias") else array
            for name, array in state.arrays.items()
        }
        parts = {name: changed(part) for name, part in state.parts.items()}
        return replace(state, arrays=arrays, parts=parts)

    store = Store(models)
    model = load_model(store, f"tiny@{version}")
    state = changed(model.classifier.state())
    golden = compose_golden(Classifier.from_state(state), 0)
    info = Info(
        "0" * 64,
        model.manifest.data.counts,
        model.training_counts,
        golden=[one.model_dump(exclude_none=True) for one in golden],
    )
    return store.write("tiny", state, info)


def test_a_bad_version_never_takes_over(
    started: Started, tiny_models: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    shutil.copytree(tiny_models, models)
    shutil.copytree(models / "tiny", models / "broken")
    for file in (models / "broken").glob("*/*.npy"):
        os.truncate(file, 10)
    server = started(models_dir=models, poll_seconds=0.05, required_models="tiny")
    good = Store(models).versions("tiny")[0]
    bad = good[:-1] + ("0" if good[-1] != "0" else "1")
    shutil.copytree(models / "tiny" / good, models / "tiny" / bad)
    next((models / "tiny" / bad).glob("*.npy")).write_bytes(b"damaged")
    (models / "tiny" / "current").write_text(bad)
    with server.client() as client:

        def failed() -> dict[str, Any]:
            found = client.get("/models").json()["models"]
            return {one["name"]: one["failed"]["reason"] for one in found if "failed" in one}

        wait_until(lambda: set(failed()) == {"tiny", "broken"})
        body = {"documents": ["a"], "model": "tiny"}
        assert client.post("/predict", json=body).json()["version"] == good
        assert client.get("/health/ready").status_code == 200
        answer = client.post("/predict", json={**body, "model": "broken"})
        assert (answer.status_code, answer.json()["type"][-17:]) == (503, "model-unavailable")
        assert server.metric("labelserve_model_load_failures_total") >= 2
        (models / "tiny" / "current").write_text(good)
        wait_until(lambda: set(failed()) == {"broken"})
        shutil.rmtree(models / "broken")
        wait_until(lambda: len(client.get("/models").json()["models"]) == 1)


def test_sigterm_drains_then_exits_and_leaves_nothing(started: Started) -> None:
    server = started(drain_seconds=1)
    sent = threading.Event()

    def endless() -> Iterator[bytes]:
        while True:
            yield LINE * 1000
            sent.set()
            time.sleep(0.05)

    def upload() -> None:
        with server.client() as client, suppress(httpx.TransportError):
            answer = client.post("/evaluate", content=endless(), headers=NDJSON)
            assert answer.status_code == 503

    def evaluate() -> None:
        with server.client() as client, suppress(httpx.TransportError):
            client.post("/evaluate?bootstrap=10000", content=LINE * 100_000, headers=NDJSON)

    others = [threading.Thread(target=work) for work in (upload, evaluate)]
    with server.client() as client:
        assert client.get("/health/ready").status_code == 200
        for other in others:
            other.start()
        sent.wait(30)
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: client.get("/health/ready").status_code == 503, 5)
        answer = client.post("/predict", json={"documents": ["a"]})
        assert answer.status_code == 200
        assert answer.headers["connection"] == "close"
        refused = client.post("/evaluate", content=LINE, headers=NDJSON)
        assert refused.json()["type"] == "urn:labelserve:error:draining"
    assert server.process.wait(60) == 0
    assert time.monotonic() - start < 1 + 2 + 15  # drain, grace, and a slow machine
    assert not list((server.data_dir / "spool").iterdir())
    for other in others:
        other.join()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_model_that_takes_long_to_load_keeps_nobody_from_ending_it(
    started: Started, sent: signal.Signals
) -> None:
    slow = "import time; from app.serving.service import Service\n"
    slow += "Service.look = lambda self: time.sleep(600)"
    server = started(wait=False, patch=slow, drain_seconds=0.1)
    wait_until(lambda: httpx.get(f"{server.url}/health/live").status_code == 200)
    assert httpx.get(f"{server.url}/health/ready").status_code == 503
    server.process.send_signal(sent)
    assert server.process.wait(30) == 0


def test_several_workers_add_up_their_figures_and_stop_together(started: Started) -> None:
    port = free_port()
    server = started(workers=2, drain_seconds=0, metrics_port=port)
    for _ in range(40):
        assert (
            httpx.post(f"{server.url}/predict", json={"documents": ["a", "b"]}).status_code == 200
        )
    wait_until(lambda: server.metric("labelserve_documents_total") == 80)
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    for name in (
        "http_request_duration_seconds_count",
        "labelserve_stage_seconds_count",
        "labelserve_in_flight",
        "labelserve_model_info",
        "labelserve_labels_per_document_count",
    ):
        assert f"\n{name}{{" in text
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) == 0
    requests = [line for line in lines(server.log) if line.get("route") == "/predict"]
    assert len(requests) == 40
    assert {line["documents"] for line in requests} == {2}
