"""No callback holds the event loop for long, whatever is asked: all others wait for it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.reliability.servers import Server, start
from tests.reliability.wide_model import N_LABELS, store_wide

MOST_SECONDS = 0.020
"""Of the CPU of the loop's thread, between two looks at it."""
NDJSON = {"content-type": "application/x-ndjson"}
ALL = {"top_k": N_LABELS}
MANY = 45  # documents with all labels: close to the most that an answer may hold

Ask = Callable[[httpx.Client], httpx.Response]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server whose loop is looked at, and the file with what was seen."""
    folder = tmp_path_factory.mktemp("watched")
    store_wide(folder / "models")
    seen = folder / "seen"
    patch = f"from tests.reliability.loop_cpu import note_cpu; note_cpu({str(seen)!r})"
    server = start(folder, models_dir=folder / "models", patch=patch)
    yield server, seen
    server.stop()


def infer(binary: bool) -> Ask:
    texts = {"name": "text", "datatype": "BYTES", "shape": [MANY], "data": ["refund"] * MANY}
    call = {"inputs": [texts], "parameters": {**ALL, "binary_data_output": binary}}
    return lambda client: client.post("/v2/models/wide/infer", json=call)


def predict(**body: Any) -> Ask:
    return lambda client: client.post("/predict", json=body)


def lines(content: bytes, path: str = "/predict") -> Ask:
    return lambda client: client.post(path, content=content, headers=NDJSON)


def get(path: str) -> Ask:
    return lambda client: client.get(path)


LONG_TEXT = "refund paper " * 70_000
ASKED: dict[str, tuple[Ask, int]] = {
    "many labels": (predict(documents=["refund"] * MANY, **ALL), 200),
    "one document's labels": (predict(documents=["refund"], **ALL), 200),
    "too many labels": (predict(documents=["refund"] * 60, **ALL), 422),
    "a large body": (predict(documents=["refund " * 1000] * 1000, top_k=1), 200),
    "a long text explained": (predict(documents=[LONG_TEXT], top_k=5, explain=2), 200),
    "no JSON": (predict(documents=["refund"] * 500_000, top=1), 422),
    "tensors": (infer(False), 200),
    "binary tensors": (infer(True), 200),
    "lines": (lines(b'"refund"\n' * MANY, f"/predict?top_k={N_LABELS}"), 200),
    "short lines": (lines(b'"refund"\n' * 30_000, "/predict?top_k=1"), 200),
    "a long line": (lines(json.dumps(LONG_TEXT).encode(), "/predict?top_k=1"), 200),
    "empty lines": (lines(b"\n" * (8 << 20)), 200),
    "a report": (lines(b'{"text": "refund", "labels": ["label000001"]}\n', "/evaluate"), 200),
    "labels": (get("/models/wide/labels?q=1"), 200),
    "models": (get("/models"), 200),
    "figures": (get("/metrics"), 200),
    "the API's description": (get("/openapi.json"), 200),
    "the page about it": (get("/docs"), 200),
}


@pytest.mark.parametrize("what", ASKED)
def test_no_callback_takes_long(watched: tuple[Server, Path], what: str) -> None:
    (server, seen), (ask, status) = watched, ASKED[what]
    with server.client() as client:
        client.get("/health/live")
        seen.write_text("")
        answer = ask(client)
        assert answer.status_code == status, answer.text[:500]
        client.get("/health/live")
    longest = max(map(float, seen.read_text().split()), default=0.0)
    assert longest <= MOST_SECONDS
