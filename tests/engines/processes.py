"""A Dask scheduler and workers as processes of their own, on the loopback address."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
DASK = (sys.executable, "-m", "dask")
SECONDS = 120
"""How long anything is waited for: far longer than it takes on a busy machine."""


class Processes:
    """A scheduler, and the workers started for it; `stop` ends what still runs."""

    def __init__(self, folder: Path, protocol: str = "tcp", **settings: str) -> None:
        self._folder, self._settings = folder, settings
        self._host = f"{protocol}://127.0.0.1"
        self.workers: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._started(
            "scheduler", "--host", self._host, "--port", "0", "--no-dashboard",
            "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file),
        )  # fmt: skip
        wait_for(lambda: file.exists() and file.stat().st_size > 0)
        self.address: str = json.loads(file.read_text())["address"]

    def start_worker(self, preload: str | None = None, **settings: str) -> subprocess.Popen[bytes]:
        """A worker with one thread, which imports a file of this folder first."""
        preloads = ("--preload", str(Path(__file__).parent / preload)) if preload else ()
        worker = self._started(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--host", self._host,
            "--no-dashboard", "--local-directory", str(self._folder), *preloads, **settings,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _started(self, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*DASK, *arguments],
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), **self._settings, **settings},
                stdout=log,
                stderr=log,
            )


def wait_for(is_true: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + SECONDS
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
