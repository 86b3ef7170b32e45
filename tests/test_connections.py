"""What is written on a connection goes out in order, in as few system calls as can be."""

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.connections import MOST_AT_ONCE, MOST_HELD, MOST_WAITING, JoinedWrites, PatientProtocol


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
        joined = JoinedWrites(wire, asyncio.get_running_loop())
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

    def at_once(self, method: str, headers: Any, body: bytes, address: str) -> bytes | None:
        if body == b"hard":
            return None
        self.at_once_bodies.append(body)
        return b"content-length: 2\r\n\r\nOK"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        self.ordinary_bodies.append(body)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


def answered(monkeypatch: pytest.MonkeyPatch, *pieces: bytes) -> tuple[Echo, bytes]:
    """Who was asked when these pieces arrived one after the other, and all that was written."""
    echo, wire = Echo(), Wire()
    monkeypatch.setattr(PatientProtocol, "quick_paths", frozenset([b"/quick"]))
    monkeypatch.setattr(PatientProtocol, "at_once", echo.at_once, raising=False)
    config = uvicorn.Config(echo, http=PatientProtocol, ws="none", log_config=None)

    async def talk() -> None:
        protocol = PatientProtocol(config, ServerState(), {})
        protocol.connection_made(wire)
        for piece in pieces:
            protocol.data_received(piece)
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


def test_one_connection_does_not_keep_the_others_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    echo, written = answered(monkeypatch, post(b"easy") * (MOST_AT_ONCE + 3))
    assert len(echo.at_once_bodies) == MOST_AT_ONCE
    assert len(echo.ordinary_bodies) == 3
    assert written.count(b"HTTP/1.1 200") == MOST_AT_ONCE
    assert written.count(b"HTTP/1.1 204") == 3
