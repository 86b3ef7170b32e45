"""An upgrade that is offered and not taken is ignored: no byte of body or successors is lost."""

import json
import shutil
import subprocess
import time
from itertools import pairwise
from typing import Any

import pytest

from tests.reliability.connection import Connection, connected, request
from tests.reliability.servers import Server

H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
OFFERS = {
    "h2c": H2C,
    "websocket": b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n",
    "unknown": b"Connection: upgrade\r\nUpgrade: gopher/1, h2c\r\n",
}
LARGE = {"documents": [{"id": str(number), "text": "refund " * 100} for number in range(100)]}


def body(number: int) -> dict[str, Any]:
    return {"documents": [{"id": str(number), "text": "refund the invoice"}]}


def chunked(content: bytes, head: bytes) -> bytes:
    start = b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
    half = len(content) // 2
    pieces = [b"%x\r\n%b\r\n" % (len(one), one) for one in (content[:half], content[half:])]
    return start + head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(pieces) + b"0\r\n\r\n"


def first_id(connection: Connection) -> str:
    status, _, content = connection.answer()
    assert status == 200, content
    found: str = json.loads(content)["predictions"][0]["id"]
    return found


@pytest.mark.parametrize("offer", OFFERS)
def test_requests_behind_an_offer_are_answered_in_their_order(server: Server, offer: str) -> None:
    heads = [OFFERS[offer], b"", OFFERS[offer] + b"Accept: */*\r\n", OFFERS[offer]]
    sent = [request(body(number), heads[number % 4]) for number in range(40)]
    sent[5] = chunked(json.dumps(body(5)).encode(), OFFERS[offer])
    with connected(server) as connection:
        connection.send(request(body(0)))
        connection.answer()  # from now on the query is known, and the fast path has answers
        connection.send(b"".join(sent))
        assert [first_id(connection) for _ in sent] == [str(number) for number in range(40)]


@pytest.mark.parametrize("offer", OFFERS)
def test_a_body_in_several_packets_behind_an_offer_is_whole(server: Server, offer: str) -> None:
    sent = request(LARGE, OFFERS[offer])
    head_end = sent.index(b"\r\n\r\n") + 4
    cuts = [0, 20, head_end - 1, head_end, head_end + 1, head_end + 20_000, len(sent)]
    with connected(server) as connection:
        for start, end in pairwise(cuts):
            connection.send(sent[start:end])
            time.sleep(0.02)
        status, _, content = connection.answer()
        assert (status, len(json.loads(content)["predictions"])) == (200, 100)
        connection.send(request(body(7)))
        assert first_id(connection) == "7"


def test_an_offer_without_a_body_is_a_request_without_a_body(server: Server) -> None:
    get = b"GET /health/live HTTP/1.1\r\nHost: here\r\n%b\r\n" % H2C
    with connected(server) as connection:
        connection.send(get * 3)
        assert [connection.answer()[0] for _ in range(3)] == [200] * 3


def test_what_is_wrong_without_an_offer_is_wrong_with_one(server: Server) -> None:
    both = request(body(1), H2C + b"Transfer-Encoding: chunked\r\n")
    for sent in (both, b"CONNECT here:80 HTTP/1.1\r\nHost: here\r\n\r\n", request(b"{", H2C)):
        with connected(server) as connection:
            connection.send(sent)
            assert connection.answer()[0] == 400


def test_a_connection_that_is_to_close_closes_after_an_offer_too(server: Server) -> None:
    close = b"Connection: close, Upgrade\r\nUpgrade: h2c\r\n"
    with connected(server) as connection:
        connection.send(request(body(1), close))
        assert first_id(connection) == "1"
        assert connection.is_closed()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_with_http2_gets_its_labels(server: Server) -> None:
    sent = json.dumps(body(7))
    content = ["-H", "content-type: application/json", "-d", sent]
    command = ["curl", "-sS", "--http2", "--max-time", "60", *content, f"{server.url}/predict"]
    done = subprocess.run(command, check=True, capture_output=True)
    assert json.loads(done.stdout)["predictions"][0]["id"] == "7"
