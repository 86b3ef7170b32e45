"""A load that asks for more memory, or disk, than there may be is refused; the service lives."""

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.reliability.servers import Server, start

ROOM = 0.2
"""Of what the worker has when it is idle."""
DOCUMENT = "refund the invoice " * 700


def data_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[5]) * resource.getpagesize()


def ask(server: Server, n_documents: int) -> httpx.Response:
    with server.client() as client:
        return client.post("/predict", json={"documents": [DOCUMENT] * n_documents, "top_k": 1})


def test_a_worker_with_half_the_memory_that_is_asked_for_refuses_and_lives(
    tmp_path: Path, tiny_models: Path
) -> None:
    server = start(tmp_path, models_dir=tiny_models)
    try:
        assert ask(server, 550).status_code == 200  # every thread has begun
        pid = server.process.pid
        limit = int(data_bytes(pid) * (1 + ROOM))
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
        with ThreadPoolExecutor(12) as clients:  # bodies of 7 MB, each some times in memory
            answers = list(clients.map(lambda _: ask(server, 550), range(24)))
            with server.client() as client:
                assert client.get("/health/live").status_code == 200
        statuses = {answer.status_code for answer in answers}
        assert 503 in statuses
        assert statuses <= {200, 429, 503}
        refused = [answer for answer in answers if answer.status_code == 503]
        assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
        assert refused[0].json()["type"] == "urn:labelserve:error:overloaded"
        with server.client() as client:
            assert client.get("/health/ready").status_code == 200
        assert server.process.poll() is None
        assert ask(server, 1).status_code == 200
    finally:
        server.stop()


@pytest.mark.parametrize("percent", [0.001, 100])
def test_uploads_are_refused_where_the_disk_is_nearly_full(
    tmp_path: Path, tiny_models: Path, percent: float
) -> None:
    server = start(tmp_path, models_dir=tiny_models, max_disk_percent=percent)
    try:
        with server.client() as client:
            sent = client.post(
                "/evaluate",
                content=b'{"text": "refund", "labels": ["billing"]}\n',
                headers={"content-type": "application/x-ndjson"},
            )
            assert sent.status_code == (200 if percent == 100 else 507)
            if percent != 100:
                assert int(sent.headers["retry-after"]) > 0
            assert client.get("/health/ready").status_code == 200
            assert "labelserve_resource_use_ratio" in client.get("/metrics").text
        assert ask(server, 1).status_code == 200
    finally:
        server.stop()
