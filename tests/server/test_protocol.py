"""What is written on a connection goes out in order, in as few system calls as can be."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.server.protocol import (
    MOST_AT_ONCE,
    MOST_HELD,
    MOST_WAITING,
    BoundedHttpProtocol,
    WriteCoalescer,
)


class Wire:
    """A transport that notes what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 5000) if name in ("peername", "sockname") else default

    def pause_reading(self) -> None:
        """Nothing comes by itself here."""

    def resume_reading(self) -> None:
        """Nothing comes by itself here."""


def test_all_of_a_turn_goes_out_together_and_nothing_waits_longer() -> None:
    large = b"x" * (MOST_WAITING + 1)

    async def written() -> list[Any]:
        wire = Wire()
        joined = WriteCoalescer(wire, asyncio.get_running_loop())
        joined.write(b"head ")
        joined.write(b"body")
        assert wire.done == []
        await asyncio.sleep(0)
        joined.write(b"head")
        joined.write(large)
        assert wire.done == [b"head body", b"head" + large]
        joined.write(b"last words")
        joined.close()
        joined.write(b"too late")
        await asyncio.sleep(0)
        return wire.done

    found = asyncio.run(written())
    assert found == [b"head body", b"head" + large, b"last words", "closed"]


class Echo:
    """What answers at once, and the application: both note whom they were asked by."""

    def __init__(self) -> None:
        self.at_once_bodies: list[bytes] = []
        self.ordinary_bodies: list[bytes] = []

    def at_once(self, head: Any, body: bytes) -> bytes | None:
        assert head == ("POST", [(b"content-length", head[1][0][1])], "127.0.0.1")
        if body in (b"hard", b"slow"):
            return None
        self.at_once_bodies.append(body)
        return b"content-length: 2\r\n\r\nOK"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        self.ordinary_bodies.append(body)
        if body == b"slow":
            await asyncio.sleep(0.1)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


def serving(monkeypatch: pytest.MonkeyPatch, echo: Echo) -> Callable[[], BoundedHttpProtocol]:
    """What makes a protocol for a connection whose requests are answered by `echo`."""
    monkeypatch.setattr(BoundedHttpProtocol, "quick_paths", frozenset([b"/quick"]))
    monkeypatch.setattr(BoundedHttpProtocol, "read_head", lambda *head: head, raising=False)
    monkeypatch.setattr(BoundedHttpProtocol, "at_once", echo.at_once, raising=False)
    config = uvicorn.Config(echo, http=BoundedHttpProtocol, ws="none", log_config=None)
    return lambda: BoundedHttpProtocol(config, ServerState(), {})


def answered(monkeypatch: pytest.MonkeyPatch, *pieces: bytes) -> tuple[Echo, bytes]:
    """Who was asked when these pieces arrived one after the other, and all that was written."""
    echo, wire = Echo(), Wire()
    new_protocol = serving(monkeypatch, echo)

    async def talk() -> None:
        protocol = new_protocol()
        protocol.connection_made(wire)
        for piece in pieces:
            protocol.data_received(piece)
            await asyncio.sleep(0.01)
        while protocol.tasks:
            await asyncio.sleep(0.01)
        protocol.connection_lost(None)

    asyncio.run(talk())
    return echo, b"".join(piece for piece in wire.done if piece != "closed")


def post(body: bytes, path: bytes = b"/quick", method: bytes = b"POST") -> bytes:
    return b"%b %b HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (method, path, len(body), body)


def test_a_whole_request_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    echo, written = answered(monkeypatch, post(b"easy"), post(b""))
    assert (echo.at_once_bodies, echo.ordinary_bodies) == ([b"easy", b""], [])
    assert written == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK" * 2


@pytest.mark.parametrize(
    "pieces",
    [
        [post(b"hard")],
        [post(b"easy", b"/other")],
        [post(b"easy", b"/quick?a=b")],
        [post(b"easy", method=b"PUT")],
        [post(b"easy")[:-1], post(b"easy")[-1:]],
        [post(b"easy")[:-4], post(b"easy")[-4:]],
        [post(b"x" * (MOST_HELD + 1))],
    ],
)
def test_all_else_goes_to_the_application_as_it_came(
    monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]
) -> None:
    echo, written = answered(monkeypatch, *pieces)
    body = b"".join(pieces).partition(b"\r\n\r\n")[2]
    assert (echo.at_once_bodies, echo.ordinary_bodies) == ([], [body])
    assert written.startswith(b"HTTP/1.1 204")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the parser was fed with."""
    found: list[bytes] = []
    real = HttpToolsProtocol.data_received

    def feed(self: Any, data: bytes) -> None:
        found.append(data)
        real(self, data)

    monkeypatch.setattr(HttpToolsProtocol, "data_received", feed)
    return found


def test_what_is_like_the_request_before_is_not_parsed_again(
    monkeypatch: pytest.MonkeyPatch, parsed: list[bytes]
) -> None:
    bodies = [b"one", b"another one", b"", b"x" * MOST_HELD]
    echo, written = answered(monkeypatch, *map(post, bodies))
    assert (echo.at_once_bodies, echo.ordinary_bodies) == (bodies, [])
    assert written.count(b"HTTP/1.1 200") == len(bodies)
    assert parsed == [post(b"one")]


@pytest.mark.parametrize(
    "pieces",
    [
        [post(b"easy", b"/other")],
        [post(b"hard")],
        [post(b"easy") + post(b"easy")],
        [post(b"easy")[:-1], post(b"easy")[-1:]],
        [post(b"easy").replace(b"Length: 4", b"Length: 5"), b"x"],
        [post(b"easy").replace(b"Length: 4", b"Length: 3")],
        [post(b"easy").replace(b"Length: 4", b"Length: 04")],
        [post(b"easy").replace(b"Length: 4", b"Length: +4")],
        [post(b"easy").replace(b"Length: 4", b"Length: 4\r\nContent-Length: 4")],
        [post(b"easy").replace(b"Length: 4", b"Length: 4\r\nConnection: close")],
        [post(b"easy").replace(b"1.1", b"1.0")],
        [post(b"x" * (MOST_HELD + 1))],
        [post(b"easy")[1:]],
        [b"\x00"],
    ],
)
def test_what_is_not_like_it_is_parsed_and_answered_as_on_a_new_connection(
    monkeypatch: pytest.MonkeyPatch, parsed: list[bytes], pieces: list[bytes]
) -> None:
    alone, written = answered(monkeypatch, *pieces)
    again, all_written = answered(monkeypatch, post(b"first"), post(b"second"), *pieces)
    assert again.at_once_bodies == [b"first", b"second", *alone.at_once_bodies]
    assert again.ordinary_bodies == alone.ordinary_bodies
    assert all_written == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK" * 2 + written
    assert parsed == [*pieces, post(b"first"), *pieces]


def test_the_rest_of_a_head_is_no_request_to_be_known_again(
    monkeypatch: pytest.MonkeyPatch, parsed: list[bytes]
) -> None:
    rest = post(b"easy")[3:]
    echo, written = answered(monkeypatch, b"POS", rest, rest)
    assert echo.at_once_bodies == [b"easy"]
    assert parsed == [b"POS", rest, rest]
    assert b"HTTP/1.1 400" in written


def test_answers_keep_their_order_behind_one_that_takes_longer(
    monkeypatch: pytest.MonkeyPatch, parsed: list[bytes]
) -> None:
    pieces = [post(body) for body in (b"one", b"two", b"slow", b"behind", b"it")]
    echo, written = answered(monkeypatch, *pieces)
    assert echo.at_once_bodies == [b"one", b"two"]
    assert echo.ordinary_bodies == [b"slow", b"behind", b"it"]
    assert re.findall(rb"HTTP/1.1 (\d+)", written) == [b"200"] * 2 + [b"204"] * 3
    assert parsed == [pieces[0], *pieces[2:]]


def test_a_connection_in_use_is_not_closed_as_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    echo, wire = Echo(), Wire()
    new_protocol = serving(monkeypatch, echo)

    async def talk() -> None:
        protocol = new_protocol()
        protocol.timeout_keep_alive = 2
        protocol.connection_made(wire)
        for _ in range(5):
            protocol.data_received(post(b"easy"))
            await asyncio.sleep(0.5)
            assert not wire.is_closing()
        async with asyncio.timeout(60):
            while not wire.is_closing():
                await asyncio.sleep(0.1)

    asyncio.run(talk())
    assert len(echo.at_once_bodies) == 5


def test_one_connection_does_not_keep_the_others_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    echo, written = answered(monkeypatch, post(b"easy") * (MOST_AT_ONCE + 3))
    assert len(echo.at_once_bodies) == MOST_AT_ONCE
    assert len(echo.ordinary_bodies) == 3
    assert written.count(b"HTTP/1.1 200") == MOST_AT_ONCE
    assert written.count(b"HTTP/1.1 204") == 3
