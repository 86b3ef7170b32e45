"""Several workers on one listener: started, watched, replaced when they die, told to stop."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from prometheus_client import CollectorRegistry, multiprocess

from app.errors import StorageFullError
from app.serving.spool import Spool
from app.serving.telemetry.telemetry import MULTIPROCESS, scraped_registry, serve_metrics
from app.settings import Settings

LOOK_SECONDS = 0.2
SHORTEST_LIFE = 2.0

Work = Callable[[], tuple[Callable[..., None], tuple[Any, ...]]]

log = logging.getLogger("labelserve.workers")


def supervise(settings: Settings, work: Work, grace_seconds: float) -> None:
    """Run as many workers as are set until SIGTERM or Ctrl-C, then stop them all."""
    with figures_folder(settings.data_dir) as folder:
        os.environ[MULTIPROCESS] = str(folder)
        _Supervisor(settings, work, grace_seconds).run()


@contextmanager
def figures_folder(data_dir: Path) -> Iterator[Path]:
    """A folder for the workers' figures; elsewhere where the data folder cannot be written.

    It is gone when the block ends; that of a supervisor that was killed, when the next one starts.
    """
    spool = Spool(data_dir, "telemetry")
    with ExitStack() as stack:
        stack.callback(spool.close)
        try:
            folder = stack.enter_context(spool.folder())
        except (OSError, StorageFullError):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="labelserve-telemetry-")))
        yield folder


class _Supervisor:
    def __init__(self, settings: Settings, work: Work, grace_seconds: float) -> None:
        self._settings, self._work, self._grace = settings, work, grace_seconds
        self._signal: int | None = None
        self._started: dict[SpawnProcess, float] = {}

    def run(self) -> None:
        """Start, watch, stop."""
        for wanted in (signal.SIGTERM, signal.SIGINT):
            signal.signal(wanted, self._note)
        if self._settings.metrics_port is not None:
            registry = scraped_registry(CollectorRegistry())
            serve_metrics(self._settings.host, self._settings.metrics_port, registry)
        for _ in range(self._settings.workers):
            self._start()
        while self._signal is None:
            sleep(LOOK_SECONDS)
            self._replace_dead()
        self._stop()

    def _note(self, sent: int, _: Any) -> None:
        self._signal = sent

    def _start(self) -> None:
        target, arguments = self._work()
        process = get_context("spawn").Process(target=target, args=arguments)
        process.start()
        self._started[process] = monotonic()

    def _replace_dead(self) -> None:
        for process in [p for p in self._started if not p.is_alive()]:
            lived = monotonic() - self._started.pop(process)
            log.error("worker %s died with code %s", process.pid, process.exitcode)
            if process.pid is not None:
                multiprocess.mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
            if self._signal is None:
                sleep(max(0.0, SHORTEST_LIFE - lived))  # one that dies at once is no busy loop
                self._start()

    def _stop(self) -> None:
        for process in self._started:
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, self._signal or signal.SIGTERM)
        end = monotonic() + self._settings.drain_seconds + self._grace + 2
        for process in self._started:
            process.join(max(0.0, end - monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
