"""Keys of a running server: what is revoked ends, what is limited is counted by all workers."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.serving.identity import KeyLimits
from app.serving.keys import KeysFile
from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
LONG = LINE * 200_000


@pytest.fixture
def keys(tmp_path: Path) -> KeysFile:
    return KeysFile(tmp_path / "keys.json")


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}", **NDJSON}


def slowly(ended: threading.Event) -> Iterator[bytes]:
    """A body that goes on until it is told to end."""
    while not ended.wait(0.1):
        yield LINE * 10


def stream(server: Server, secret: str, path: str, body: Any) -> int:
    """The status of a long request, or 0 where its connection was closed under way."""
    with server.client(headers=bearer(secret)) as client:
        try:
            return client.post(path, content=body).status_code
        except httpx.TransportError:
            return 0


def ended_by(server: Server, key: str) -> list[tuple[str, int]]:
    """Route and status of what a key had asked for and what has ended, by the log."""
    found = [line for line in lines(server.log) if line.get("caller") == key]
    return [(line["route"], line["status"]) for line in found]


def test_what_a_revoked_key_has_begun_ends(
    started: Started, keys: KeysFile, tmp_path: Path
) -> None:
    """A stream of lines, an upload and an evaluation, each of which would go on for minutes."""
    (gone, secret), (_, other) = (keys.create(["predict", "evaluate"]) for _ in range(2))
    server = started(api_keys_file=tmp_path / "keys.json", workers=2, drain_seconds=0)
    ended = threading.Event()
    slow_test = "/evaluate?bootstrap=10000"
    with ThreadPoolExecutor(5) as clients:
        revoked = [
            clients.submit(stream, server, secret, "/predict", slowly(ended)),
            clients.submit(stream, server, secret, "/evaluate", slowly(ended)),
            clients.submit(stream, server, secret, slow_test, LONG),
        ]
        allowed = clients.submit(stream, server, other, "/predict", slowly(ended))
        time.sleep(1)
        keys.revoke(gone.id)
        try:
            wait_until(lambda: len(ended_by(server, gone.id)) == 3, 30)
            assert not allowed.done()
        finally:
            ended.set()
        assert [one.result(60) for one in (*revoked, allowed)] == [0, 401, 401, 200]
    answered = [("/evaluate", 401), ("/evaluate", 401), ("/predict", 200)]
    assert sorted(ended_by(server, gone.id)) == answered
    wait_until(lambda: not server.spool)


def test_all_workers_together_answer_as_many_documents_as_a_key_may_have(
    started: Started, keys: KeysFile, tmp_path: Path
) -> None:
    _, secret = keys.create(["predict"], limits=KeyLimits(documents_per_day=25))
    server = started(api_keys_file=tmp_path / "keys.json", workers=2, drain_seconds=0)

    def predict(_: int) -> int:
        with httpx.Client(headers={"authorization": f"Bearer {secret}"}) as client:
            return client.post(f"{server.url}/predict", json={"documents": ["a"]}).status_code

    with ThreadPoolExecutor(4) as clients:
        statuses = list(clients.map(predict, range(60)))
    assert (statuses.count(200), statuses.count(429)) == (25, 35)
