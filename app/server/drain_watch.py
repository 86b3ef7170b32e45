"""DrainWatch: cuts a connection whose client does not read what is written to it."""

import fcntl
import struct
import termios
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import Any

SLOWEST = 1000
"""Bytes a second, in either direction, that keep a connection with a full buffer going."""
LONGEST_LOOK = 1.0


class DrainWatch:
    """Looks at a connection's write buffer from when it is full until it has room again.

    Every byte that the client takes earns time to wait for the next, at `SLOWEST` bytes a second,
    and `patience` seconds are given on top, as to those who send. A byte that it sends earns as
    much: some read their answers only when they have sent everything.
    """

    def __init__(
        self, transport: Any, loop: AbstractEventLoop, patience: float, on_cut: Callable[[], None]
    ) -> None:
        self._transport, self._loop, self._on_cut = transport, loop, on_cut
        self._patience, self._left = patience, patience
        self._unsent, self._received = 0, 0
        self._timer: TimerHandle | None = None

    def start(self) -> None:
        """The buffer is full."""
        self._left, self._received = self._patience, 0
        self._unsent = self._unsent_bytes()
        self._look_later()

    def stop(self) -> None:
        """The buffer has room, or the connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def received(self, n_bytes: int) -> None:
        """The client has sent so much meanwhile."""
        self._received += n_bytes

    def _look_later(self) -> None:
        self._seconds = min(LONGEST_LOOK, self._patience / 4)
        self._timer = self._loop.call_later(self._seconds, self._look)

    def _unsent_bytes(self) -> int:
        """Bytes in the write buffer and in that of the kernel.

        The kernel takes more only when a third of its megabytes is free: by the write buffer alone
        a slow reader would seem to read nothing for minutes.
        """
        size: int = self._transport.get_write_buffer_size()
        socket = self._transport.get_extra_info("socket")
        try:
            (queued,) = struct.unpack("i", fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(4)))
        except OSError:
            return size
        return size + int(queued)

    def _look(self) -> None:
        before, self._unsent = self._unsent, self._unsent_bytes()
        moved = max(0, before - self._unsent) + self._received
        self._received = 0
        self._left = min(self._patience, self._left - self._seconds + moved / SLOWEST)
        if self._left > 0:
            self._look_later()
        else:
            self._on_cut()
            self._transport.abort()
