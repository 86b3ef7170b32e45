"""Telemetry of a running server: every request is counted, in its bucket, by whoever is asked."""

import json
import os
import signal
import socket
import time
from contextlib import suppress

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.reliability.conftest import Started
from tests.reliability.servers import Server, free_port, lines, wait_until

DURATIONS = "http_request_duration_seconds"
SLOW_SECONDS = 0.06


def samples(text: str, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
    """The samples of this name that have these labels among theirs."""
    found = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return [
        (sample.labels, sample.value)
        for sample in found
        if sample.name == name and labels.items() <= sample.labels.items()
    ]


def total(text: str, name: str, **labels: str) -> float:
    return sum(value for _, value in samples(text, name, **labels))


def own_connections(server: Server) -> httpx.Client:
    """A client that makes a connection a request, so that every worker gets some."""
    return server.client(limits=httpx.Limits(max_keepalive_connections=0))


def predict(server: Server, times: int) -> None:
    with own_connections(server) as client:
        for _ in range(times):
            assert client.post("/predict", json={"documents": ["a", "b"]}).status_code == 200


def test_a_request_is_counted_in_the_bucket_of_its_duration(started: Started) -> None:
    """Of one request the sum of all durations is the duration: it tells which buckets have it."""
    server = started()
    host, port = server.url.removeprefix("http://").split(":")
    body = json.dumps({"documents": ["a"]}).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    head += "Content-Type: application/json\r\nConnection: close\r\n\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body[:-1])
        time.sleep(SLOW_SECONDS)
        connection.sendall(body[-1:])
        assert b" 200 " in connection.recv(65536)
    text = httpx.get(f"{server.url}/metrics").text
    seconds = total(text, f"{DURATIONS}_sum", route="/predict")
    counted = samples(text, f"{DURATIONS}_bucket", route="/predict")
    assert seconds >= SLOW_SECONDS / 2
    assert {labels["le"]: value for labels, value in counted} == {
        labels["le"]: float(seconds <= float(labels["le"])) for labels, _ in counted
    }
    assert [value for labels, value in counted if labels["le"] == "0.025"] == [0]
    assert total(text, f"{DURATIONS}_count", route="/predict") == 1


def test_a_killed_worker_is_replaced_and_no_counter_falls(started: Started) -> None:
    port = free_port()
    server = started(workers=2, drain_seconds=0, metrics_port=port)
    predict(server, 40)
    name, seen = "labelserve_documents_total", 80.0
    wait_until(lambda: server.metric(name) == seen)

    def supervisor() -> float:
        return total(httpx.get(f"http://127.0.0.1:{port}/metrics").text, name)

    wait_until(lambda: supervisor() == seen)
    before = server.workers
    killed = before[-1]
    os.kill(killed, signal.SIGKILL)
    while len(server.workers) < len(before) or killed in server.workers:
        assert supervisor() >= seen
        with suppress(httpx.TransportError):  # a connection that the killed one had accepted
            assert server.metric(name) >= seen
    wait_until(lambda: supervisor() == seen)
    predict(server, 40)
    wait_until(lambda: supervisor() == 160)
    wait_until(lambda: server.metric(name) == 160)
    assert [line for line in lines(server.log) if "died with code -9" in line.get("message", "")]


def test_whoever_is_asked_no_counter_falls_under_load(started: Started) -> None:
    server, before = started(workers=2, drain_seconds=0), 0.0
    with own_connections(server) as client:
        for _ in range(100):
            assert client.post("/predict", json={"documents": ["a"]}).status_code == 200
            seen = total(client.get("/metrics").text, "labelserve_documents_total")
            assert seen >= before
            before = seen
    wait_until(lambda: server.metric("labelserve_documents_total") == 100)


@pytest.mark.parametrize("stopped", ["supervisor", "worker"])
def test_a_stopped_process_makes_figures_older_and_stops_nobody(
    started: Started, stopped: str
) -> None:
    server = started(workers=2, drain_seconds=0)
    predict(server, 10)
    wait_until(lambda: server.metric("labelserve_documents_total") == 20)
    pid = server.process.pid if stopped == "supervisor" else server.workers[-1]
    os.kill(pid, signal.SIGSTOP)
    try:
        with own_connections(server) as client:
            for _ in range(10):
                assert client.get("/metrics").status_code == 200
                assert client.post("/predict", json={"documents": ["a"]}).status_code == 200
    finally:
        os.kill(pid, signal.SIGCONT)
    predict(server, 5)
    wait_until(lambda: server.metric("labelserve_documents_total") == 40)
