"""Requests that are framed to do harm, or only unusually, on a connection of their own."""

import threading
from typing import Any

import pytest

from tests.reliability.connection import connected, request
from tests.reliability.servers import Server, lines, wait_until

BODY = {"documents": ["refund the invoice"], "top_k": 1}
CHUNKED = (
    b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
MEGABYTE = 1 << 20


def test_every_request_that_was_sent_ahead_is_answered(server: Server) -> None:
    one, count = request(BODY), 5000
    with connected(server) as connection:
        sending = threading.Thread(target=connection.send, args=(one * count,))
        sending.start()
        statuses = {connection.answer()[0] for _ in range(count)}
        sending.join()
    assert statuses == {200}


def test_head_is_answered_as_get_without_a_body(server: Server) -> None:
    with server.client(headers={"x-request-id": "fixed"}) as client:
        operations = client.get("/openapi.json").json()["paths"]
        paths = [path for path, methods in operations.items() if "head" not in methods]
        for path in [*paths, "/", "/docs", "/openapi.json", "/nowhere"]:
            url = path.format(name="tiny", version="none", id="none", sha256="0" * 64)
            read, asked = client.get(url), client.head(url)
            assert (asked.status_code, asked.content) == (read.status_code, b"")
            assert asked.headers.get("content-type") == read.headers.get("content-type")
            if path != "/metrics":  # it has counted one more request
                assert asked.headers["content-length"] == read.headers["content-length"]
    wait_until(lambda: "/v2/models/{name}/ready" in {line["route"] for line in heads(server)})
    assert [line for line in heads(server) if line.get("bytes")] == []


def heads(server: Server) -> list[dict[str, Any]]:
    return [line for line in lines(server.log) if line.get("method") == "HEAD"]


@pytest.mark.parametrize("begun", [b"X: ", b"X"])
def test_a_trailer_without_end_is_cut_off(server: Server, begun: bytes) -> None:
    before = server.memory
    with connected(server) as connection:
        connection.send(CHUNKED + b"1\r\n{\r\n0\r\n" + begun)
        with pytest.raises(ConnectionError):
            connection.send(b"a" * 100 * MEGABYTE)
    assert server.memory - before < 32 * MEGABYTE


def test_long_chunks_and_short_trailers_are_no_trailer_without_end(server: Server) -> None:
    text = b'{"documents": ["%b"]}' % (b"refund " * 100_000)
    half = len(text) // 2
    with connected(server) as connection:
        connection.send(CHUNKED + b"%x\r\n" % half)
        connection.send(text[:half] + b"\r\n%x\r\n" % (len(text) - half))
        connection.send(text[half:] + b"\r\n0\r\nX: a\r\n")
        connection.send(b"Y: b\r\n\r\n")
        assert connection.answer()[0] == 200
        connection.send(request(BODY))
        assert connection.answer()[0] == 200
