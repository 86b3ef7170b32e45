"""Figures of several workers: each sends its own to the supervisor, which knows the sum.

Everything passes through one pipe a worker: no file holds a figure, so no disk can refuse one.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue

import msgspec

from app.serving.telemetry.snapshot import Snapshot, decode, encode, merged, without_gauges

SEND_SECONDS, ANSWER_SECONDS = 1.0, 1.0


class WorkerFigures(msgspec.Struct, frozen=True, array_like=True):
    """What a worker sends."""

    figures: Snapshot
    wants_total: bool
    """Whether the supervisor is to answer with the figures of all workers."""
    loop_turns: int
    """How often the event loop has come round so far."""


class SnapshotExchange:
    """A worker's end of the pipe, used by a thread that may wait: the event loop never does.

    A supervisor that is slow or stopped only makes figures older.
    """

    def __init__(
        self,
        connection: Connection,
        snapshot: Callable[[], Snapshot],
        loop_turns: Callable[[], int],
    ) -> None:
        self._connection, self._snapshot, self._loop_turns = connection, snapshot, loop_turns
        self._asked: SimpleQueue[Future[Snapshot]] = SimpleQueue()
        self._last: Snapshot | None = None

    def start(self) -> None:
        """Send this worker's figures every second, from now on."""
        threading.Thread(target=self._run, name="telemetry", daemon=True).start()

    async def total(self) -> Snapshot:
        """The figures of all workers, these of this moment; the last known ones without an answer.

        The supervisor is asked every time, since its sum never falls. A sum made here would: it
        would lack what another worker has shown already, and Prometheus takes a counter that
        falls for one that began anew.
        """
        asked: Future[Snapshot] = Future()
        self._asked.put(asked)
        with suppress(TimeoutError):
            self._last = await asyncio.wait_for(asyncio.wrap_future(asked), ANSWER_SECONDS)
        return self._snapshot() if self._last is None else self._last

    def _run(self) -> None:
        with suppress(EOFError, OSError):  # the supervisor is gone
            while True:
                self._send(self._next_asked())

    def _next_asked(self) -> Future[Snapshot] | None:
        try:
            return self._asked.get(timeout=SEND_SECONDS)
        except Empty:
            return None

    def _send(self, asked: Future[Snapshot] | None) -> None:
        if asked is not None and not asked.set_running_or_notify_cancel():
            return
        report = WorkerFigures(self._snapshot(), asked is not None, self._loop_turns())
        self._connection.send_bytes(msgspec.msgpack.encode(report))
        if asked is not None:
            asked.set_result(decode(self._connection.recv_bytes()))


class SnapshotAggregator:
    """The supervisor's own figures and those of its workers, the ended ones included, as one sum.

    Workers have places 0, 1, 2 …, and one that is replaced leaves its place to the next: so the
    sum is always made in the same order, and not even its rounding ever lets a counter fall.
    """

    def __init__(self, own: Callable[[], Snapshot]) -> None:
        self._own = own
        self._lock = threading.Lock()
        self._live: dict[int, Snapshot] = {}
        self._ended: dict[int, Snapshot] = {}
        self._loop_turns: dict[int, int] = {}

    def follow(self, place: int, connection: Connection) -> threading.Thread:
        """Take what the worker at this place sends, until it ends; in a thread, which is returned.

        A worker that is stopped keeps only its own thread waiting.
        """
        self._loop_turns[place] = 0
        thread = threading.Thread(target=self._follow, args=(place, connection), daemon=True)
        thread.start()
        return thread

    def loop_turns(self, place: int) -> int:
        """How often the event loop of the worker at this place had come round, as it last said."""
        return self._loop_turns[place]

    def total(self) -> Snapshot:
        """The figures of all workers; gauges of the living only."""
        with self._lock:
            places = sorted({*self._ended, *self._live})
            return merged([self._own(), *map(self._at, places)])

    def _at(self, place: int) -> Snapshot:
        return merged([self._ended.get(place, ()), self._live.get(place, ())])

    def _follow(self, place: int, connection: Connection) -> None:
        with connection, suppress(EOFError, OSError):
            while True:
                self._take(place, connection)
        self._end(place)

    def _take(self, place: int, connection: Connection) -> None:
        report = msgspec.msgpack.decode(connection.recv_bytes(), type=WorkerFigures)
        with self._lock:
            self._live[place] = report.figures
            self._loop_turns[place] = report.loop_turns
        if report.wants_total:
            connection.send_bytes(encode(self.total()))

    def _end(self, place: int) -> None:
        with self._lock:
            last = without_gauges(self._live.pop(place, ()))
            self._ended[place] = merged([self._ended.get(place, ()), last])
