"""A stream of bytes, held against a protocol in memory: what was seen of it, what came back."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import uvicorn
from streams.requests import Stream
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.server.fast_path import FastPath
from app.server.protocol import BoundedHttpProtocol

QUICK = frozenset([b"/quick"])
MOST_TURNS = 400


class Outcome(NamedTuple):
    """What can be told of a server from outside, and from its application."""

    written: bytes
    is_closed: bool
    seen: list[Any]
    """Method, path, headers and body of every request that was read whole."""


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.written, self.is_closed = bytearray(), False

    def write(self, data: bytes) -> None:
        """Keep it."""
        if not self.is_closed:
            self.written += data

    def close(self) -> None:
        """No more."""
        self.is_closed = True

    abort = close

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.is_closed

    def get_write_buffer_size(self) -> int:
        """Everything is read at once."""
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Two addresses."""
        return ("127.0.0.1", 5000) if name in ("peername", "sockname") else default

    def pause_reading(self) -> None:
        """Nothing comes by itself."""

    def resume_reading(self) -> None:
        """Nothing comes by itself."""


class Application:
    """Answers with a digest of what it was asked, in a way that depends on the path."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def at_once(self, headers: Any, address: str, body: bytes) -> Any:
        """The fast path: the same answer that the application gives."""
        content = self.note("POST", b"/quick", headers, body)
        return [(b"content-length", b"%d" % len(content))], content

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The application."""
        path = scope["path"]
        body = b"" if path == "/early" else await _body(receive)
        if body is None:
            return
        for _ in range(5 if path == "/slow" else 0):
            await asyncio.sleep(0)
        headers = [] if path == "/early" else scope["headers"]  # trailers may come at any time
        content = self.note(scope["method"], scope["raw_path"], headers, body)
        length = [] if path == "/stream" else [(b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        half = len(content) // 2
        await send({"type": "http.response.body", "body": content[:half], "more_body": True})
        await send({"type": "http.response.body", "body": content[half:]})

    def note(self, method: str, path: bytes, headers: Any, body: bytes) -> bytes:
        """Remember a request; a digest of it."""
        self.seen.append((method, path, list(headers), body))
        return hashlib.sha256(repr(self.seen[-1]).encode()).hexdigest().encode()


async def _body(receive: Any) -> bytes | None:
    """The whole body; None where the client has left before."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


def ours(application: Application) -> Any:
    """Our protocol, with a fast path."""
    fast_path = FastPath(QUICK, application.at_once)
    return BoundedHttpProtocol(_config(application), ServerState(), {}, fast_path=fast_path)


def ours_without_fast_path(application: Application) -> Any:
    """Our protocol, which asks the application alone."""
    return BoundedHttpProtocol(_config(application), ServerState(), {})


def plain(application: Application) -> Any:
    """uvicorn's own."""
    return HttpToolsProtocol(_config(application), ServerState(), {})


def _config(application: Application) -> uvicorn.Config:
    config = uvicorn.Config(
        application, http="httptools", ws="none", log_config=None, proxy_headers=False
    )
    config.load()
    return config


async def outcome(stream: Stream, server: Callable[[Application], Any]) -> Outcome:
    """What becomes of a stream: each piece arrives unless the connection was closed before."""
    application, wire = Application(), Wire()
    protocol = server(application)
    protocol.connection_made(wire)
    for piece, turns in zip(stream.pieces(), stream.turns, strict=False):
        if piece and not wire.is_closed:
            protocol.data_received(piece)
        for _ in range(turns):
            await asyncio.sleep(0)
    for _ in range(MOST_TURNS if protocol.tasks else 3):
        await asyncio.sleep(0)
        if not protocol.tasks:
            break
    for _ in range(3):
        await asyncio.sleep(0)
    found = Outcome(bytes(wire.written), wire.is_closed, application.seen)
    protocol.connection_lost(None)
    for task in tuple(protocol.tasks):  # of requests that wait behind others for their turn
        task.cancel()
    await asyncio.gather(*protocol.tasks, return_exceptions=True)
    return found
