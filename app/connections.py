"""HTTP/1.1 connections: how long they may take, and how answers are put on the wire."""

from asyncio import AbstractEventLoop
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS, HEAD_BYTES = 10, 65_536
LINGER_SECONDS = 30  # for reading on after an early answer, so that the client gets to read it


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 with an end to patience: for slow heads, endless heads, unread bodies."""

    head_seconds: float = HEAD_SECONDS
    _timer: Any = None
    _head_is_open = False
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """A new connection must send a whole head in time."""
        super().connection_made(transport)
        self.transport = JoinedWrites(transport, self.loop)  # type: ignore[assignment]
        self._close_in(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stay_open()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A head that is not complete yet is given a time and a size."""
        super().data_received(data)
        if self._head_is_open:
            self._head_bytes += len(data)
            if self._timer is None:
                self._close_in(self.head_seconds)
            if self._head_bytes > HEAD_BYTES:
                self.transport.close()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._head_is_open, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        """The head is complete; the application has its own time for the body."""
        self._head_is_open = False
        self._stay_open()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """What follows an early answer is read on for a while, and dropped."""
        super().on_body(body)
        if self.cycle.response_complete and self._timer is None:
            self._close_in(LINGER_SECONDS)

    def on_message_complete(self) -> None:
        """The body is complete."""
        self._stay_open()
        super().on_message_complete()

    def _close_in(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _stay_open(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class JoinedWrites:
    """A transport that sends an answer's head and body in one system call, not in two.

    The first piece waits for the second, at most for one turn of the loop.
    """

    __slots__ = ("_loop", "_piece", "_transport", "is_closing")

    def __init__(self, transport: Any, loop: AbstractEventLoop) -> None:
        self._transport, self._loop, self._piece = transport, loop, b""
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send this piece with the one before it, or keep it for the next."""
        if self._piece:
            piece, self._piece = self._piece, b""
            self._transport.writelines((piece, data))
        elif data:
            self._piece = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Send what is left, then close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._piece:
            piece, self._piece = self._piece, b""
            self._transport.write(piece)
