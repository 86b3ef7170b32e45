"""WriteCoalescer: a transport that joins the small writes of one turn of the loop."""

from asyncio import AbstractEventLoop
from typing import Any

MAX_WAITING_BYTES = 65_536


class WriteCoalescer:
    """A transport that sends all pieces of one turn of the loop in one system call.

    An answer's head and body go together, and under load the answers of many requests go out one
    after the other: the client's machine is woken once for them, not once for each. Large pieces
    go out as they are: to copy one would take longer than a system call.
    """

    __slots__ = ("_linger", "_loop", "_pieces", "_size", "_transport", "is_closing")

    def __init__(self, transport: Any, loop: AbstractEventLoop, linger_seconds: float) -> None:
        self._transport, self._loop, self._linger = transport, loop, linger_seconds
        self._pieces: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send this piece at the end of the turn, or now where it or all that waits is large."""
        if len(data) > MAX_WAITING_BYTES:
            self._flush()
            if not self.is_closing():
                self._transport.write(data)
            return
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_WAITING_BYTES:
            self._flush()

    def close(self) -> None:
        """Send what is left, then close; whoever does not read it in time does not get it."""
        self._flush()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            self._loop.call_later(self._linger, self._transport.abort)

    def _flush(self) -> None:
        if self._pieces and not self.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces, self._size = [], 0
