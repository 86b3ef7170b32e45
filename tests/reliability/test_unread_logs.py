"""Standard output and error that nobody reads: no process waits for a reader."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.reliability.conftest import Started
from tests.reliability.connection import connected, request
from tests.reliability.servers import Server, free_port, wait_until

DROPPED = "labelserve_log_lines_dropped_total"
TOGETHER, ROUNDS = 16, 500
LONG_ID = b"X-Request-ID: " + b"x" * 64 + b"\r\n"
PREDICT = request({"documents": ["refund"]}, LONG_ID)


@pytest.fixture
def full_pipe() -> Iterator[int]:
    """The writing end of a pipe that holds all it can, and that nobody reads."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    while True:
        try:
            os.write(writing, b"\n")
        except BlockingIOError:
            break
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


def predict_often(server: Server, rounds: int) -> None:
    """So many times so many requests together, all to the same worker, and all answered 200."""
    with connected(server) as connection:
        for _ in range(rounds):
            connection.send(PREDICT * TOGETHER)
            answers = b""
            while not (answers.count(b"HTTP/1.1 200") == TOGETHER and answers.endswith(b"}")):
                answers += connection.socket.recv(1 << 20)


@pytest.mark.parametrize("workers", [1, 2])
def test_nobody_waits_for_whoever_does_not_read_the_logs(
    started: Started, full_pipe: int, workers: int
) -> None:
    server = started(output=full_pipe, port=free_port(), workers=workers, drain_seconds=0)
    with server.client() as client:
        predict_often(server, ROUNDS)
        assert client.get("/health/live").status_code == 200
        wait_until(lambda: server.metric(DROPPED) > 0)
        lines = b'{"text": "please refund", "labels": ["billing"]}\n' * 10
        kind = {"content-type": "application/x-ndjson"}
        assert client.post("/evaluate", content=lines, headers=kind).status_code == 200
    if before := server.workers:  # of whose death the supervisor has a line to write
        os.kill(before[-1], signal.SIGKILL)
        wait_until(lambda: len(server.workers) == workers and server.workers != before)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0


def test_a_reader_that_comes_late_gets_every_line_whole(started: Started) -> None:
    reading, writing = os.pipe()
    server = started(output=writing, port=free_port(), drain_seconds=0)
    os.close(writing)
    predict_often(server, 30)
    server.process.send_signal(signal.SIGTERM)
    with open(reading, "rb") as pipe:
        lines = pipe.read().splitlines()
    assert server.process.wait(30) == 0
    assert sum(line.startswith(b'{"time":') and line.endswith(b"}") for line in lines) == len(lines)
    assert sum(b'"route":"/predict"' in line for line in lines) == 30 * TOGETHER
