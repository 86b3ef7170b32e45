"""Standard output and error that are written by threads: whoever logs never waits for a reader."""

import io
import os
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from app.serving.telemetry.counters import Counter

MOST_WAITING = 2 << 20
"""Bytes of lines that wait for a reader; what comes beyond them is dropped, and counted."""
LAST_SECONDS = 1.0
"""How long the end of a process waits for its last lines to be written."""


class LogWriter(io.RawIOBase):
    """A stream whose lines a thread writes to a file descriptor, in their order."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__()
        self.name, self.dropped = name, Counter()
        self._descriptor = descriptor
        self._pieces: list[bytes] = []
        self._waiting = 0
        """Bytes in `_pieces`, and those that the thread is just writing."""
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name=f"log {name}", daemon=True).start()

    def writable(self) -> bool:
        """Whether it can be written to: yes."""
        return True

    def fileno(self) -> int:
        """The descriptor of the stream that it stands for."""
        return self._descriptor

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Leave whole lines to the thread, or drop them where too much is waiting."""
        with self._changed:
            if self._waiting + len(data) > MOST_WAITING:
                self.dropped.inc(_lines(data))
            else:
                self._pieces.append(bytes(data))
                self._waiting += len(data)
                self._changed.notify_all()
        return len(data)

    def drain(self, deadline: float) -> None:
        """Wait until everything is written, or until then."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, max(0.0, deadline - monotonic()))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pieces)
                data, self._pieces = b"".join(self._pieces), []
            rest = self._written(data)
            with self._changed:
                self._waiting -= len(data)
                self.dropped.inc(_lines(rest))
                self._changed.notify_all()

    def _written(self, data: bytes) -> bytes:
        """Write all, however long that takes; what is left where the reader is gone."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # another process has set the shared pipe not to block
                self._wait_for_room()
            except OSError:
                break
        return bytes(rest)

    def _wait_for_room(self) -> None:
        """Wait until the pipe takes more; by `poll`, as `select` knows no descriptor past 1023."""
        room = select.poll()
        room.register(self._descriptor, select.POLLOUT)
        room.poll()


class LogWriters(NamedTuple):
    """Those of standard output and error."""

    output: LogWriter
    error: LogWriter

    def drain(self) -> None:
        """Write what is left, within a second."""
        deadline = monotonic() + LAST_SECONDS
        for writer in self:
            writer.drain(deadline)


@contextmanager
def log_writers() -> Iterator[LogWriters]:
    """Standard output and error written by threads while the block runs, then drained."""
    output, error = sys.stdout, sys.stderr
    writers = LogWriters(LogWriter(output.fileno(), "stdout"), LogWriter(error.fileno(), "stderr"))
    sys.stdout, sys.stderr = _text(writers.output), _text(writers.error)
    try:
        yield writers
    finally:
        writers.drain()
        sys.stdout, sys.stderr = output, error


def _text(writer: LogWriter) -> io.TextIOWrapper:
    return io.TextIOWrapper(writer, "utf-8", "backslashreplace", write_through=True)


def _lines(data: bytes) -> int:
    return data.count(b"\n")
