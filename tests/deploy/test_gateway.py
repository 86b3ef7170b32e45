"""The gateways' configurations, run by a real nginx and HAProxy before two real replicas."""

import http.client
import json
import shutil
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess, replica
from soak.gateway import GATEWAYS, Load, restart_one_by_one

from app.settings import Settings

TEXT = {"documents": ["my invoice was charged twice, and the parcel is late"], "top_k": 3}


@dataclass
class Site:
    port: int
    gateway: ServerProcess
    replicas: list[ServerProcess]
    folder: Path

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, content

    def access_log(self) -> list[dict[str, str]]:
        lines = (self.folder / "access.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.fixture(scope="module", params=GATEWAYS)
def site(
    request: pytest.FixtureRequest, tiny_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    program, gateway = GATEWAYS[request.param]
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("site")
    (folder / "models").mkdir()
    shutil.copytree(tiny_models, folder / "models", dirs_exist_ok=True)
    port, *inside = free_ports(3)
    replicas = [replica(folder / "models", number, folder) for number in inside]
    door = gateway(port, inside, folder)
    try:
        for process in replicas:
            process.start()
        for process in replicas:
            process.wait_until_ready()
        door.start()
        door.wait_until_ready()
        yield Site(port, door, replicas, folder)
    finally:
        for process in [door, *replicas]:
            process.end()


def test_predictions_come_through_from_both_replicas(site: Site) -> None:
    for _ in range(8):
        status, headers, content = site.ask("POST", "/predict", json.dumps(TEXT))
        assert status == 200
        assert headers["x-request-id"]
        labels = json.loads(content)["predictions"][0]["labels"]
        assert {label["label"] for label in labels} >= {"billing", "shipping"}
    seen = {line["upstream"] for line in site.access_log() if line["path"] == "/predict"}
    assert len(seen) == 2


def test_headers_are_there_once(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    connection.request("GET", "/models")
    names = [name.lower() for name, _ in connection.getresponse().getheaders()]
    connection.close()
    assert sorted(names) == sorted(set(names))


def test_documents_a_line_come_through_up_to_the_limit(site: Site) -> None:
    line = json.dumps("the printer has no toner, " * 300) + "\n"
    lines = line * (Settings().max_body_bytes // len(line))
    status, _, content = site.ask("POST", "/predict", lines, Content_Type="application/x-ndjson")
    assert status == 200
    assert content.count(b'"printer"') == lines.count("\n")


@pytest.mark.parametrize("site", ["haproxy"], indirect=True)
def test_lines_are_answered_while_more_are_sent(site: Site) -> None:
    head = "POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/x-ndjson\r\n"
    with (
        socket.create_connection(("127.0.0.1", site.port), timeout=30) as connection,
        connection.makefile("rb") as answer,
    ):
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for _ in range(300):
            connection.sendall(b'400\r\n"' + b"paper " * 170 + b'a"\n\r\n')
        assert answer.readline().startswith(b"HTTP/1.1 200")
        assert any(b'"labels"' in line for line in iter(answer.readline, b""))
        connection.sendall(b"0\r\n\r\n")
        assert any(line == b"0\r\n" for line in iter(answer.readline, b""))


def test_a_test_set_is_evaluated_through_the_gateway(site: Site) -> None:
    record = {"text": "my invoice was charged twice", "labels": ["billing"]}
    body = (json.dumps(record) + "\n") * 500
    status, _, content = site.ask("POST", "/evaluate", body, Content_Type="application/x-ndjson")
    assert status == 200
    assert json.loads(content)["data"]["documents"] == 500


def test_a_body_too_long_is_refused_in_the_service_s_form(site: Site) -> None:
    length = str(Settings().max_body_bytes + 1)
    status, headers, content = site.ask("POST", "/predict", b"x", Content_Length=length)
    assert status == 413
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-request-id"]
    assert json.loads(content)["type"] == "urn:labelserve:error:payload-too-large"


def test_figures_are_not_for_the_outside_and_no_query_is_logged(site: Site) -> None:
    assert site.ask("GET", "/metrics?secret=7")[0] == 404
    assert "secret" not in (site.folder / "access.log").read_text()


def test_a_rolling_restart_under_load_fails_no_request(site: Site) -> None:
    with Load(site.port, TEXT, clients=8, pause=0.005).running() as load:
        restart_one_by_one(site.replicas)
    assert load.failures == []
    assert load.sent > 100


def test_a_killed_replica_costs_at_most_what_it_had_in_hand(site: Site) -> None:
    with Load(site.port, TEXT, clients=8, pause=0.005).running() as load:
        before = load.sent
        site.replicas[0].send(signal.SIGKILL)
        site.replicas[0].start()
        site.replicas[0].wait_until_ready()
    assert load.sent > before + 50
    assert len(load.failures) <= 8, load.failures


def test_without_any_replica_the_answer_is_503_and_recovers(site: Site) -> None:
    for one in site.replicas:
        one.send(signal.SIGKILL)
    status, headers, content = site.ask("POST", "/predict", json.dumps(TEXT))
    assert (status, headers["retry-after"]) == (503, "1")
    assert json.loads(content)["type"] == "urn:labelserve:error:model-unavailable"
    for one in site.replicas:
        one.start()
    for one in site.replicas:
        one.wait_until_ready()
    assert site.ask("POST", "/predict", json.dumps(TEXT))[0] == 200
