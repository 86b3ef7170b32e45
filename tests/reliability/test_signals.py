"""Signals as supervisors, shells and operators send them: the drain is kept, nobody is orphaned."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from bench.harness.processes import family

from tests.reliability.conftest import Started
from tests.reliability.servers import Server, lines, wait_until

NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
WORKERS = pytest.mark.parametrize("workers", [1, 2])


def is_running(pid: int) -> bool:
    """Whether the process is there, and not only waits to be asked for its exit code."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@contextmanager
def evaluating(server: Server, n_lines: int) -> Iterator[list[httpx.Response]]:
    """An evaluation that runs in a process of its own; its answer is there when the block ends."""
    httpx.post(f"{server.url}/evaluate", content=LINE, headers=NDJSON, timeout=60)
    answers: list[httpx.Response] = []
    before = set(family(server.process.pid))

    def evaluate() -> None:
        url = f"{server.url}/evaluate?bootstrap=100"
        with suppress(httpx.TransportError):
            answers.append(httpx.post(url, content=LINE * n_lines, headers=NDJSON, timeout=60))

    waiting = threading.Thread(target=evaluate)
    waiting.start()
    wait_until(lambda: bool(set(family(server.process.pid)) - before))
    yield answers
    waiting.join()


@WORKERS
def test_sigterm_to_all_processes_twice_keeps_the_drain_and_what_is_evaluated(
    started: Started, workers: int
) -> None:
    """As systemd does it with KillMode=control-group, and then once more."""
    server = started(workers=workers, drain_seconds=3)
    with evaluating(server, 5_000) as answers, server.client() as client:
        assert client.get("/health/live").status_code == 200
        start = time.monotonic()
        for _ in range(2):
            for pid in family(server.process.pid):
                os.kill(pid, signal.SIGTERM)
            time.sleep(0.5)
        while server.process.poll() is None and time.monotonic() < start + 2:
            answer = httpx.post(f"{server.url}/predict", json={"documents": ["refund"]})
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
            assert httpx.get(f"{server.url}/health/ready").status_code == 503
            time.sleep(0.1)
    assert [answer.status_code for answer in answers] == [200]
    assert server.process.wait(60) == 0
    assert time.monotonic() >= start + 3
    assert not [line for line in lines(server.log) if line.get("level") == "error"]


def test_a_stopped_worker_is_replaced_and_a_busy_one_is_not(started: Started) -> None:
    server = started(workers=2, drain_seconds=0, stall_seconds=3)
    before, busy = server.workers, {"documents": ["refund the invoice payment " * 200] * 1000}
    end = time.monotonic() + 5

    def post(_: int) -> None:
        while time.monotonic() < end:
            answer = httpx.post(f"{server.url}/predict", json=busy, timeout=60)
            assert answer.status_code in (200, 429)

    with ThreadPoolExecutor(4) as clients:
        list(clients.map(post, range(4)))
    assert server.workers == before
    stopped, other = before
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: len(server.workers) == 2 and stopped not in server.workers)
    assert other in server.workers
    assert not is_running(stopped)
    assert [one for one in lines(server.log) if "no sign of life" in one.get("message", "")]
    for _ in range(10):
        body = {"documents": ["refund"]}
        assert httpx.post(f"{server.url}/predict", json=body, timeout=60).status_code == 200


def test_workers_and_their_evaluations_end_with_a_killed_supervisor(started: Started) -> None:
    server = started(workers=2, drain_seconds=1)
    host, port = server.url.removeprefix("http://").split(":")
    # Longer than the drain on any machine: what is done before its end is rightly answered.
    with evaluating(server, 1_000_000) as answers:
        everybody = family(server.process.pid)
        server.process.kill()
        server.process.wait(30)
        wait_until(lambda: not any(map(is_running, everybody)))
        socket.create_server((host, int(port))).close()
    assert [answer.status_code for answer in answers] in ([], [503])
