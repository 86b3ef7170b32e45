"""JobWorkers: the worker processes of a service, started once there may be jobs, and watched."""

import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Self

from app.errors import errno_text
from app.kernel_cache import PROJECT
from app.serving.jobs.folders import sqlite_file
from app.serving.jobs.workers.worker_options import WorkerOptions

COMMAND = (sys.executable, "-P", "-m", "app.serving.jobs.workers.worker_process")
"""`-P`: whatever is in the working folder, `app` is ours."""
LOOK_SECONDS = 0.5
END_SECONDS = 5.0  # to put a job back into the queue
LONG_LIFE = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0

log = logging.getLogger("labelserve.jobs")


@dataclass
class _Place:
    """One of the workers that should be there."""

    process: subprocess.Popen[str] | None = None
    started: float = 0.0
    start_at: float = 0.0
    pause: float = FIRST_PAUSE


class JobWorkers:
    """While the block runs, so many workers do; a thread watches them.

    Nothing is started before there is a database of jobs: who hands in no evaluations pays nothing.
    """

    def __init__(self, options: WorkerOptions, number: int) -> None:
        self._options = options
        self._places = [_Place() for _ in range(number)]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="job-workers", daemon=True)

    def __enter__(self) -> Self:
        if self._places:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._places:
            self._thread.join()
        running = [place.process for place in self._places if place.process is not None]
        for process in running:
            _close_input(process)
        end = monotonic() + END_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, end - monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            if self._may_have_jobs():
                for place in self._places:
                    self._look_at(place)

    def _may_have_jobs(self) -> bool:
        """Whether there is a database; a SQLite file is made by whoever hands in the first job."""
        return self._options.jobs_url is not None or sqlite_file(self._options.data_dir).exists()

    def _look_at(self, place: _Place) -> None:
        process = place.process
        if process is not None and process.poll() is not None:
            log.error("job worker %s died with code %s", process.pid, process.returncode)
            _close_input(process)
            _plan_next(place)
        elif process is None and monotonic() >= place.start_at:
            self._start(place)

    def _start(self, place: _Place) -> None:
        place.started = monotonic()
        try:
            place.process = self._new_process()
        except OSError as error:
            log.error("a job worker cannot be started: %s", errno_text(error))
            _plan_next(place)

    def _new_process(self) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        process = subprocess.Popen(  # noqa: S603
            COMMAND,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            text=True,
        )
        if process.stdin is not None:
            with suppress(OSError):  # it died at once, which is seen at the next look
                process.stdin.write(self._options.as_json() + "\n")
                process.stdin.flush()
        return process


def _plan_next(place: _Place) -> None:
    """Start anew after a pause, which is longer each time unless the last one lived for long."""
    if monotonic() - place.started > LONG_LIFE:
        place.pause = FIRST_PAUSE
    place.process, place.start_at = None, monotonic() + place.pause
    place.pause = min(2 * place.pause, LONGEST_PAUSE)


def _close_input(process: subprocess.Popen[str]) -> None:
    """Tell a worker to end."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
