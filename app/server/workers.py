"""Several workers on one listener: started, watched, replaced when they die, told to stop."""

import logging
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from threading import Thread
from time import monotonic, sleep
from typing import Any

from app.server.stall_clock import StallClock
from app.serving.parent_watch import when_parent_ends
from app.serving.telemetry.exchange import SnapshotAggregator
from app.serving.telemetry.exposition import serve_metrics
from app.serving.telemetry.telemetry import Telemetry
from app.settings import Settings

LOOK_SECONDS = 0.2
SHORTEST_LIFE = 2.0
LAST_FIGURES_SECONDS = 2.0
START_SECONDS = 300.0  # for a worker's first sign of life: it imports, and may load a large model
END_SECONDS = 2.0  # from the end of the last request to the end of the process

Work = Callable[[], tuple[Callable[..., None], tuple[Any, ...]]]
"""What a worker calls and with what; the supervisor adds the worker's end of their pipe."""

log = logging.getLogger("labelserve.workers")


def supervise(settings: Settings, work: Work, grace_seconds: float, telemetry: Telemetry) -> None:
    """Run as many workers as are set until SIGTERM or Ctrl-C, then stop them all."""
    _Supervisor(settings, work, grace_seconds, telemetry).run()


def end_with_supervisor(grace_seconds: float) -> None:
    """End this worker when its supervisor is gone, without a drain, however that came.

    It accepts nothing more at once, so that the next service finds the port free; what is under
    way has the grace time.
    """

    def end() -> None:
        log.error("the supervisor is gone: this worker ends")
        os.kill(os.getpid(), signal.SIGINT)
        sleep(grace_seconds + END_SECONDS)
        os._exit(1)

    when_parent_ends(end)


@dataclass(frozen=True, eq=False)
class Worker:
    """A process that serves, and the thread that takes its figures; it ends after the process."""

    place: int
    process: SpawnProcess
    figures: Thread
    stall: StallClock
    started: float


class _Supervisor:
    def __init__(
        self, settings: Settings, work: Work, grace_seconds: float, telemetry: Telemetry
    ) -> None:
        self._settings, self._work, self._grace = settings, work, grace_seconds
        self._signal: int | None = None
        self._workers: list[Worker] = []
        self._figures = SnapshotAggregator(telemetry.snapshot)

    def run(self) -> None:
        """Start, watch, stop."""
        for wanted in (signal.SIGTERM, signal.SIGINT):
            signal.signal(wanted, self._note)
        if self._settings.metrics_port is not None:
            serve_metrics(self._settings.host, self._settings.metrics_port, self._figures.total)
        for place in range(self._settings.workers):
            self._start(place)
        while self._signal is None:
            sleep(LOOK_SECONDS)
            self._kill_stalled()
            self._replace_dead()
        self._stop()

    def _note(self, sent: int, _: Any) -> None:
        self._signal = sent

    def _start(self, place: int) -> None:
        target, arguments = self._work()
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        with theirs:  # closed here once the worker has it: only then is its end noticed
            process = context.Process(target=target, args=(*arguments, theirs))
            process.start()
        figures = self._figures.follow(place, ours)
        stall = StallClock(allowance=START_SECONDS)
        self._workers.append(Worker(place, process, figures, stall, monotonic()))

    def _kill_stalled(self) -> None:
        """Kill workers that show no sign of life; they are replaced like others that died.

        A sign is a turn of the event loop: a busy one turns, if late; one of a process that was
        stopped (SIGSTOP, a debugger), or that waits for something for ever, does not.
        """
        for worker in self._workers:
            seconds = worker.stall.seconds(self._figures.loop_turns(worker.place))
            if seconds > self._settings.stall_seconds and worker.process.is_alive():
                log.error("worker %s shows no sign of life: killed", worker.process.pid)
                worker.process.kill()
                worker.process.join()

    def _replace_dead(self) -> None:
        for worker in [one for one in self._workers if not one.process.is_alive()]:
            self._workers.remove(worker)
            process, lived = worker.process, monotonic() - worker.started
            log.error("worker %s died with code %s", process.pid, process.exitcode)
            if self._signal is None:
                sleep(max(0.0, SHORTEST_LIFE - lived))  # one that dies at once is no busy loop
                worker.figures.join(LAST_FIGURES_SECONDS)
                self._start(worker.place)

    def _stop(self) -> None:
        processes = [worker.process for worker in self._workers]
        for process in processes:
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, self._signal or signal.SIGTERM)
        end = monotonic() + self._settings.drain_seconds + self._grace + END_SECONDS
        for process in processes:
            process.join(max(0.0, end - monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
