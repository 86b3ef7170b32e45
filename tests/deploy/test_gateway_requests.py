"""What a client sends to pass for more than it is does not come through a gateway."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess, replica
from soak.forged_headers import BODY, EVE, REPEATED, SETTINGS
from soak.gateway import GATEWAYS
from soak.raw_requests import ADMIN, H2C, JSON, NDJSON, WEBSOCKET, chunked, sized, statuses

from tests.reliability.servers import wait_until

SMUGGLED = b"GET /models HTTP/1.1\r\nHost: here\r\nX-Request-ID: smuggled\r\n\r\n"


@dataclass
class Site:
    port: int
    replica: ServerProcess

    def answers(self, sent: bytes) -> list[int]:
        """The statuses of all answers on one connection, until it is closed."""
        return statuses(self.port, sent)

    def requests(self) -> list[dict[str, Any]]:
        """What reached the replica; the last request is the one made here."""
        last = secrets.token_hex(8)
        self.answers(sized(b"GET /models", f"X-Request-ID: {last}\r\n".encode(), b""))
        wait_until(lambda: last in self.replica.log.read_text())
        lines = [json.loads(line) for line in self.replica.log.read_text().splitlines()]
        return [line for line in lines if "route" in line]


@pytest.fixture(scope="module", params=GATEWAYS)
def site(
    request: pytest.FixtureRequest, tiny_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A gateway that says of everybody that it is Eve, who may predict and no more."""
    program, gateway = GATEWAYS[request.param]
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("site")
    port, inside = free_ports(2)
    served = replica(tiny_models, inside, folder, **SETTINGS)
    door = gateway(port, [inside, inside], folder, EVE)
    try:
        for process in (served, door):
            process.start()
            process.wait_until_ready()
        yield Site(port, served)
    finally:
        for process in (door, served):
            process.end()


def test_neither_header_nor_trailer_of_a_client_says_who_it_is(site: Site) -> None:
    assert site.answers(sized(b"POST /predict", JSON + ADMIN, BODY)) == [200]
    assert site.answers(chunked(b"POST /predict", JSON, BODY, ADMIN)) == [200]
    assert site.answers(sized(b"POST /evaluate", NDJSON + ADMIN, b"{}\n")) == [403]
    for trailer in (ADMIN, ADMIN * 2, b"Content-Type: text/csv\r\n" + ADMIN):
        assert site.answers(chunked(b"POST /evaluate", NDJSON, b"{}\n", trailer)) == [403]
    posted = [line for line in site.requests() if line["method"] == "POST"]
    assert {line["caller"] for line in posted} == {"eve"}


@pytest.mark.parametrize("twice", REPEATED)
def test_a_header_that_counts_is_sent_once(site: Site, twice: bytes) -> None:
    assert site.answers(sized(b"POST /predict", JSON + twice, BODY))[:1] == [400]


@pytest.mark.parametrize("offer", [H2C, WEBSOCKET])
def test_an_upgrade_that_is_not_taken_loses_no_body(site: Site, offer: bytes) -> None:
    both = sized(b"POST /predict", JSON + offer, BODY) + sized(b"POST /predict", JSON, BODY)
    assert site.answers(both) == [200, 200]


@pytest.mark.parametrize(
    "path", [b"/metrics", b"/%6detrics", b"/metrics?a", b"http://here/metrics"]
)
def test_figures_are_not_reached_by_another_spelling(site: Site, path: bytes) -> None:
    assert site.answers(sized(b"GET %b" % path, b"", b"")) == [404]


def test_a_path_that_readers_understand_differently_leads_nowhere(site: Site) -> None:
    for path in (b"/metrics#", b"/models/..%2fmetrics", b"/metrics;a", b"//metrics", b"/metrics/"):
        assert site.answers(sized(b"GET %b" % path, b"", b""))[0] in (400, 404)


SIZED = b"Content-Length: %d\r\n" % (len(SMUGGLED) + 5)
ATTEMPTS = {
    "length and chunks": SIZED + b"Transfer-Encoding: chunked\r\n",
    "chunks in disguise": SIZED + b"Transfer-Encoding: xchunked\r\n",
    "chunks not last": SIZED + b"Transfer-Encoding: chunked, identity\r\n",
    "chunks twice": SIZED + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
    "a space before the colon": SIZED + b"Transfer-Encoding : chunked\r\n",
    "a folded line": SIZED + b"X: y\r\n Transfer-Encoding: chunked\r\n",
    "a tab": SIZED + b"Transfer-Encoding:\tchunked\r\n",
    "a vertical tab": SIZED + b"Transfer-Encoding: \x0bchunked\r\n",
    "a bare line feed": SIZED + b"X: y\nTransfer-Encoding: chunked\r\n",
    "two lengths": SIZED + b"Content-Length: 5\r\n",
    "two lengths in one": b"Content-Length: 5, %d\r\n" % (len(SMUGGLED) + 5),
    "a signed length": b"Content-Length: +5\r\n",
    "a length of hex digits": b"Content-Length: 0x5\r\n",
}


@pytest.mark.parametrize("head", ATTEMPTS.values(), ids=ATTEMPTS)
def test_no_request_hides_in_the_body_of_another(site: Site, head: bytes) -> None:
    start = b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
    answers = site.answers(start + head + b"Connection: close\r\n\r\n0\r\n\r\n" + SMUGGLED)
    assert len(answers) == 1
    assert answers[0] in range(400, 502)
    assert site.answers(sized(b"POST /predict", JSON, BODY)) == [200]
    assert "smuggled" not in {line["request_id"] for line in site.requests()}
