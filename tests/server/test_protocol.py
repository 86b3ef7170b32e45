"""What is written on a connection goes out in order, in as few system calls as can be."""

import asyncio
import re
import signal
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.server.fast_path import MAX_BODY_BYTES, MAX_CONSECUTIVE, FastPath
from app.server.http_server import DrainingServer
from app.server.protocol import BoundedHttpProtocol
from app.server.write_coalescer import MAX_WAITING_BYTES, WriteCoalescer


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
    large = b"x" * (MAX_WAITING_BYTES + 1)

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

    def at_once(self, headers: Any, address: str, body: bytes) -> Any:
        assert (headers[0], address) == ((b"content-length", b"%d" % len(body)), "127.0.0.1")
        if body in (b"hard", b"slow"):
            return None
        self.at_once_bodies.append(body)
        return [(b"content-length", b"2")], b"OK"

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


def serving(echo: Echo) -> Callable[[], BoundedHttpProtocol]:
    """What makes a protocol for a connection whose requests are answered by `echo`."""
    fast_path = FastPath(frozenset([b"/quick"]), echo.at_once)
    config = uvicorn.Config(echo, http="httptools", ws="none", log_config=None)
    return lambda: BoundedHttpProtocol(config, ServerState(), {}, fast_path=fast_path)


def answered(*pieces: bytes) -> tuple[Echo, bytes]:
    """Who was asked when these pieces arrived one after the other, and all that was written."""
    echo, wire = Echo(), Wire()
    talk(echo, wire, pieces)
    return echo, b"".join(piece for piece in wire.done if piece != "closed")


def talk(echo: Echo, wire: Wire, pieces: Iterable[bytes]) -> None:
    """Let these pieces arrive one after the other, and wait for what comes of them."""
    new_protocol = serving(echo)

    async def all_pieces() -> None:
        protocol = new_protocol()
        protocol.connection_made(wire)
        for piece in pieces:
            protocol.data_received(piece)
            await asyncio.sleep(0.01)
        while protocol.tasks:
            await asyncio.sleep(0.01)
        protocol.connection_lost(None)

    asyncio.run(all_pieces())


def post(body: bytes, path: bytes = b"/quick", method: bytes = b"POST") -> bytes:
    return b"%b %b HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (method, path, len(body), body)


def test_a_whole_request_is_answered_at_once() -> None:
    echo, written = answered(post(b"easy"), post(b""))
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
        [post(b"x" * (MAX_BODY_BYTES + 1))],
    ],
)
def test_all_else_goes_to_the_application_as_it_came(pieces: list[bytes]) -> None:
    echo, written = answered(*pieces)
    body = b"".join(pieces).partition(b"\r\n\r\n")[2]
    assert (echo.at_once_bodies, echo.ordinary_bodies) == ([], [body])
    assert written.startswith(b"HTTP/1.1 204")


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
        [post(b"x" * (MAX_BODY_BYTES + 1))],
        [post(b"easy")[1:]],
        [b"\x00"],
    ],
)
def test_a_request_behind_others_is_answered_as_on_a_new_connection(pieces: list[bytes]) -> None:
    alone, written = answered(*pieces)
    again, all_written = answered(post(b"first"), post(b"second"), *pieces)
    assert again.at_once_bodies == [b"first", b"second", *alone.at_once_bodies]
    assert again.ordinary_bodies == alone.ordinary_bodies
    assert all_written == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK" * 2 + written


def test_the_rest_of_a_head_is_no_request() -> None:
    rest = post(b"easy")[3:]
    echo, written = answered(b"POS", rest, rest)
    assert echo.at_once_bodies == [b"easy"]
    assert b"HTTP/1.1 400" in written


def test_what_follows_a_chunked_body_never_becomes_a_header() -> None:
    seen: list[Any] = []

    class Headers(Echo):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await super().__call__(scope, receive, send)
            seen.append(scope["headers"])

    head = b"POST /any HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-User: anybody\r\n\r\n"
    trailer = b"X-User: admin\r\nX-Groups: admins\r\n"
    echo = Headers()
    talk(echo, Wire(), [head + b"4\r\nbody\r\n0\r\n" + trailer + b"\r\n"])
    assert echo.ordinary_bodies == [b"body"]
    assert seen == [[(b"transfer-encoding", b"chunked"), (b"x-user", b"anybody")]]


@pytest.mark.parametrize("body", [b"easy", b"hard"])
@pytest.mark.parametrize("n_bytes", [1, 7, 1000])
def test_an_offer_to_upgrade_loses_nothing(body: bytes, n_bytes: int) -> None:
    offer = b"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    sent = post(body).replace(b"\r\n\r\n", offer) * 3 + post(b"last")
    echo, written = answered(*(sent[at : at + n_bytes] for at in range(0, len(sent), n_bytes)))
    assert sorted(echo.at_once_bodies + echo.ordinary_bodies) == sorted([body] * 3 + [b"last"])
    assert len(re.findall(rb"HTTP/1.1 20\d", written)) == 4
    if n_bytes == 1000:
        assert bool(echo.ordinary_bodies) is (body == b"hard")


def test_answers_keep_their_order_behind_one_that_takes_longer() -> None:
    pieces = [post(body) for body in (b"one", b"two", b"slow", b"behind", b"it")]
    echo, written = answered(*pieces)
    assert echo.at_once_bodies == [b"one", b"two"]
    assert echo.ordinary_bodies == [b"slow", b"behind", b"it"]
    assert re.findall(rb"HTTP/1.1 (\d+)", written) == [b"200"] * 2 + [b"204"] * 3


def test_a_connection_in_use_is_not_closed_as_idle() -> None:
    echo, wire = Echo(), Wire()
    new_protocol = serving(echo)

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


@pytest.mark.parametrize("before", [b"", post(b"easy"), post(b"hard")])
@pytest.mark.parametrize(("n_pieces", "is_cut"), [(2, False), (5, True)])
def test_an_endless_head_ends_the_connection(before: bytes, n_pieces: int, is_cut: bool) -> None:
    wire, new_protocol = Wire(), serving(Echo())
    piece = (b"X-More: " + b"x" * 1000 + b"\r\n") * 20

    async def send() -> bool:
        protocol = new_protocol()
        protocol.connection_made(wire)
        for sent in (before + b"POST /quick HTTP/1.1\r\n", *[piece] * n_pieces):
            protocol.data_received(sent)
            await asyncio.sleep(0.01)
        is_closed = wire.is_closing()
        protocol.connection_lost(None)
        return is_closed

    assert asyncio.run(send()) is is_cut


@pytest.mark.parametrize("sent", [b"", b"POST /qui", post(b"easy") + b"POST", post(b"hard") + b"P"])
def test_a_head_that_does_not_come_in_time_ends_the_connection(sent: bytes) -> None:
    wire, config = Wire(), uvicorn.Config(Echo(), http="httptools", ws="none", log_config=None)

    async def wait() -> None:
        protocol = BoundedHttpProtocol(config, ServerState(), {}, head_seconds=0.05)
        protocol.connection_made(wire)
        if sent:
            protocol.data_received(sent)
        async with asyncio.timeout(60):
            while not wire.is_closing():
                await asyncio.sleep(0.01)
        protocol.connection_lost(None)

    config.load()
    asyncio.run(wait())


def test_sigterm_announces_the_end_again_changes_nothing_and_ctrl_c_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("app.server.http_server.monotonic", lambda: now)
    config = uvicorn.Config(Echo(), log_config=None)

    def leaves(server: DrainingServer) -> bool:
        return asyncio.run(server.on_tick(1))

    for signals, has_ended in (
        ([], False),
        ([signal.SIGTERM], False),
        ([signal.SIGTERM] * 2, False),
        ([signal.SIGTERM, signal.SIGINT], True),
        ([signal.SIGINT], True),
    ):
        service = SimpleNamespace(is_draining=False)
        server = DrainingServer(config, service, 10)
        for sent in signals:
            server.handle_exit(sent, None)
        assert service.is_draining is bool(signals)
        assert leaves(server) is has_ended
        now += 9
        assert leaves(server) is has_ended
        now += 2
        assert leaves(server) is bool(signals)


def test_one_connection_does_not_keep_the_others_waiting() -> None:
    echo, written = answered(post(b"easy") * (MAX_CONSECUTIVE + 3))
    assert len(echo.at_once_bodies) == MAX_CONSECUTIVE
    assert len(echo.ordinary_bodies) == 3
    assert written.count(b"HTTP/1.1 200") == MAX_CONSECUTIVE
    assert written.count(b"HTTP/1.1 204") == 3
