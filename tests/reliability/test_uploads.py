"""Uploads of any size and kind: bounded memory, clean spool, the service goes on."""

import gzip
import os
import resource
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import zstandard
from bench.harness.processes import family

from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

MEBIBYTE = 1 << 20
NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'


LONG = b'{"text": "' + b"paper jam " * 6500 + b'", "labels": ["printer"]}\n'


def pieces(size: int) -> Iterator[bytes]:
    """So many bytes of few, long documents: much to receive, little to judge."""
    piece = LONG * (MEBIBYTE // len(LONG))
    for _ in range(size // len(piece)):
        yield piece


def predict_seconds(server: Server, stop: threading.Event) -> list[float]:
    times = []
    with server.client() as client:
        while not stop.is_set():
            start = time.perf_counter()
            answer = client.post("/predict", json={"documents": ["a late parcel"]})
            assert answer.status_code == 200
            times.append(time.perf_counter() - start)
            time.sleep(0.01)
    return times


def test_a_large_upload_takes_no_memory_and_predictions_go_on(server: Server) -> None:
    """The serving process may take a quarter of what is sent at most, at any moment."""
    body = b"".join(pieces(48 * MEBIBYTE))
    ways = [
        {"content": pieces(48 * MEBIBYTE), "headers": NDJSON},
        {"content": gzip.compress(body, 1), "headers": {**NDJSON, "content-encoding": "gzip"}},
        {"files": {"file": ("test.jsonl", body)}},
    ]
    with server.client() as client:
        client.post("/evaluate", content=LINE, headers=NDJSON)
        stop = threading.Event()
        times: list[float] = []
        other = threading.Thread(target=lambda: times.extend(predict_seconds(server, stop)))
        other.start()
        grown = []
        for way in ways:
            forget_peak(server)
            before = memory(server, "VmRSS")
            answer = client.post("/evaluate?k=1", **way, timeout=120)  # type: ignore[arg-type]
            assert answer.status_code == 200, answer.text
            grown.append((memory(server, "VmHWM") - before) / MEBIBYTE)
        stop.set()
        other.join()
    assert max(grown) < 12, grown
    assert len(times) > 10
    assert statistics.median(times) < 1
    assert server.spool == []


def forget_peak(server: Server) -> None:
    """Have the kernel note the peak of the memory (VmHWM) anew."""
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")


def memory(server: Server, which: str) -> int:
    """Of the serving process alone: evaluations have memory of their own, and give it back."""
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith(which):
            return int(line.split()[1]) * 1024
    return 0


def test_bombs_are_refused_before_they_unfold(server: Server) -> None:
    bombs = {
        "4 GiB in gzip": gzip.compress(bytes(16 * MEBIBYTE)) * 256,
        "1 GiB in zstd": zstandard.compress(bytes(64 * MEBIBYTE)) * 16,
        "4 GiB in zstd": zstandard.compress(bytes(64 * MEBIBYTE)) * 64,
        "gzip in gzip": gzip.compress(gzip.compress(bytes(64 * MEBIBYTE))),
    }
    with server.client() as client:
        forget_peak(server)
        before = memory(server, "VmRSS")
        for name, bomb in bombs.items():
            answer = client.post("/evaluate", content=bomb, headers=NDJSON)
            assert answer.status_code in (413, 422), (name, answer.text)
        assert memory(server, "VmHWM") - before < 16 * MEBIBYTE
    assert server.spool == []


def test_clients_that_leave_in_the_middle_leave_nothing_behind(server: Server) -> None:
    def half() -> Iterator[bytes]:
        yield LINE * 1000
        raise ConnectionAbortedError

    for _ in range(40):
        with server.client() as client, pytest.raises(ConnectionAbortedError):
            client.post("/evaluate", content=half(), headers=NDJSON)
    wait_until(lambda: server.spool == [], 10)
    wait_until(lambda: server.metric("labelserve_in_flight") == 1, 10)  # the one that asks
    assert "Traceback" not in server.log.read_text()


def test_a_killed_evaluation_is_a_clear_error_and_the_service_goes_on(server: Server) -> None:
    with server.client() as client:
        client.post("/evaluate", content=LINE, headers=NDJSON)
        helpers = set(family(server.process.pid))
        answers: list[httpx.Response] = []
        body = LINE * 200_000
        for wait in (0.0, 0.1, 0.3):
            waiting = threading.Thread(
                target=lambda: answers.append(
                    httpx.post(f"{server.url}/evaluate", content=body, headers=NDJSON, timeout=60)
                )
            )
            waiting.start()
            wait_until(lambda: bool(set(family(server.process.pid)) - helpers), 30)
            time.sleep(wait)
            for pid in set(family(server.process.pid)) - helpers:
                os.kill(pid, signal.SIGKILL)
            waiting.join()
        assert [answer.status_code for answer in answers] == [500, 500, 500]
        assert "evaluating process" in answers[0].json()["detail"]
        assert server.spool == []
        assert client.post("/evaluate", content=LINE, headers=NDJSON).status_code == 200


def test_a_full_disk_is_507_for_uploads_and_nothing_for_predictions(started: Started) -> None:
    server = started()
    limit = 200_000
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
    with server.client() as client:
        answer = client.post("/evaluate", content=LINE * 10_000, headers=NDJSON)
        assert (answer.status_code, answer.json()["type"][-12:]) == (507, "storage-full")
        assert server.spool == []
        assert client.post("/predict", json={"documents": ["a"]}).status_code == 200
        assert client.post("/evaluate", content=LINE, headers=NDJSON).status_code == 200


def test_a_read_only_spool_is_507_for_uploads_and_the_service_starts(started: Started) -> None:
    server = started(data_dir="/proc/labelserve")
    with server.client() as client:
        answer = client.post("/evaluate", content=LINE, headers=NDJSON)
        assert answer.status_code == 507
        assert client.post("/predict", json={"documents": ["a"]}).status_code == 200
    assert any("uploads will be refused" in line.get("message", "") for line in lines(server.log))


def test_what_a_killed_server_left_is_removed_by_the_next(started: Started, tmp_path: Path) -> None:
    server = started(data_dir=tmp_path / "var")
    sent = threading.Event()

    def slow() -> Iterator[bytes]:
        yield LINE * 50_000
        sent.set()
        time.sleep(5)

    def upload() -> None:
        with server.client() as client, pytest.raises(httpx.TransportError):
            client.post("/evaluate", content=slow(), headers=NDJSON)

    uploading = threading.Thread(target=upload)
    uploading.start()
    sent.wait(30)
    wait_until(lambda: len(server.spool) == 1, 10)
    server.process.kill()
    server.process.wait(30)
    assert len(server.spool) == 1
    again = started(data_dir=tmp_path / "var")
    assert again.spool == []
    uploading.join()
