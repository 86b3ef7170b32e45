"""A gateway checks headers; nothing else of a request may pass for one."""

from typing import Any

import pytest

from tests.reliability.conftest import Started
from tests.reliability.connection import connected, request
from tests.reliability.servers import Server

GATEWAY = {"auth": "proxy", "trusted_proxies": "127.0.0.0/8"}
NOBODY = b"X-Forwarded-User: eve\r\nX-Forwarded-Groups: labelserve-predict\r\n"
ADMIN = b"X-Forwarded-User: admin\r\nX-Forwarded-Groups: labelserve-admin\r\n"


@pytest.fixture
def guarded(started: Started) -> Server:
    """A server that believes its gateway."""
    return started(**GATEWAY)


def chunked(start: bytes, head: bytes, body: bytes, trailer: bytes) -> bytes:
    return (
        b"%b HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n%b"
        b"Transfer-Encoding: chunked\r\nTrailer: X-Forwarded-Groups\r\n\r\n"
        b"%x\r\n%b\r\n0\r\n%b\r\n"
    ) % (start, head, len(body), body, trailer)


@pytest.mark.parametrize("is_in_pieces", [False, True])
def test_a_trailer_makes_nobody_an_administrator(guarded: Server, is_in_pieces: bool) -> None:
    for start in (b"GET /metrics", b"POST /metrics"):
        sent = chunked(start, NOBODY, b"{}", ADMIN)
        with connected(guarded) as connection:
            for piece in [sent[:150], sent[150:-40], sent[-40:]] if is_in_pieces else [sent]:
                connection.send(piece)
            assert connection.answer()[0] in (403, 405)
            connection.send(b"GET /metrics HTTP/1.1\r\nHost: here\r\n%b\r\n" % ADMIN)
            assert connection.answer()[0] == 200  # whom the gateway names so is one


def test_a_trailer_does_not_name_the_caller_of_predictions(guarded: Server) -> None:
    body = b'{"documents": ["refund"]}'
    with connected(guarded) as connection:
        connection.send(chunked(b"POST /predict", b"", body, NOBODY))
        assert connection.answer()[0] == 401
        connection.send(chunked(b"POST /predict", NOBODY, body, b"Content-Type: text/plain\r\n"))
        assert connection.answer()[0] == 200


@pytest.mark.parametrize(
    "twice",
    [
        b"X-Forwarded-User: admin\r\n",
        b"x-forwarded-groups: labelserve-admin\r\n",
        b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        b"Content-Type: application/json\r\nContent-Type: application/x-ndjson\r\n",
        b"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
        b"Content-Length: 25\r\n",
        b"Host: elsewhere\r\n",
    ],
)
def test_a_header_that_counts_is_sent_once(guarded: Server, twice: bytes) -> None:
    plain = request({"documents": ["refund"]}, NOBODY)
    repeated = request({"documents": ["refund"]}, NOBODY + twice)
    with connected(guarded) as connection:
        for _ in range(2):  # the second time the fast path would have an answer
            connection.send(plain)
            assert connection.answer()[0] == 200
        connection.send(repeated)
        assert connection.answer()[0] == 400
    with connected(guarded) as connection:
        get = b"GET /models HTTP/1.1\r\nHost: here\r\n%b%b%b\r\n" % (NOBODY, twice, twice)
        connection.send(get)
        assert connection.answer()[0] == 400


def test_other_headers_may_come_twice(guarded: Server) -> None:
    with connected(guarded) as connection:
        for head in (b"Accept: a/b\r\nAccept: c/d\r\n", b"X-Forwarded-For: a\r\n" * 2):
            connection.send(request({"documents": ["refund"]}, NOBODY + head))
            status, headers, _ = connection.answer()
            assert status == 200
            assert_single(headers)


def assert_single(headers: dict[str, Any]) -> None:
    assert headers["content-type"] == "application/json"
