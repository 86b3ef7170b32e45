"""WriteCoalescer: a transport that joins the small writes of one turn of the loop."""

from asyncio import AbstractEventLoop
from typing import Any

MAX_WAITING_BYTES = 65_536


class WriteCoalescer:
    """A transport that sends all pieces of one turn of the loop in one system call.

    An answer's head and body go together, and under load the answers of many requests go out one
    after the other: the client's machine is woken once for them, not once for each.
    """

    __slots__ = ("_loop", "_pieces", "_size", "_transport", "is_closing")

    def __init__(self, transport: Any, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send this piece at the end of the turn, or now where much is waiting."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_WAITING_BYTES:
            self._flush()

    def close(self) -> None:
        """Send what is left, then close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._pieces and not self.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces, self._size = [], 0
