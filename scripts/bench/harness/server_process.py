"""A server as a process of its own: started, waited for until it is ready, ended by process id."""

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.harness.environment import ROOT

START_SECONDS, STOP_SECONDS = 180.0, 60.0


class ServerProcess:
    """A program of ours that answers on a port; ended by its own process id."""

    def __init__(self, command: list[str], port: int, path: str, log: Path, **options: Any) -> None:
        self.command, self.port, self.path, self.log = command, port, path, log
        self.options = options
        self.running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id; 0 before it is started."""
        return self.running.pid if self.running is not None else 0

    def start(self) -> None:
        """Start it and return at once."""
        with self.log.open("ab") as log:
            options = {"stdout": log, "stderr": log, **self.options}
            self.running = subprocess.Popen(self.command, **options)

    def wait_until_ready(self) -> float:
        """Wait until it answers 200; the seconds that took."""
        begun = time.monotonic()
        while time.monotonic() - begun < START_SECONDS:
            if self.running is None or self.running.poll() is not None:
                raise RuntimeError(f"it ended before it was ready: {self._last_words()}")
            if self.answers():
                return time.monotonic() - begun
            time.sleep(0.05)
        raise TimeoutError(f"not ready in {START_SECONDS} s: {self._last_words()}")

    def _last_words(self) -> str:
        return f"{self.command[:3]}: {self.log.read_text()[-2000:]}"

    def answers(self) -> bool:
        """Whether its health path answers 200 now."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", self.path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def send(self, number: signal.Signals) -> int:
        """Send it a signal and wait for its end; the exit code."""
        if self.running is None:
            return 0
        self.running.send_signal(number)
        try:
            return self.running.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
            raise

    def end(self) -> None:
        """End it whatever state it is in; SIGINT is at once for the service and for nginx."""
        if self.running is not None and self.running.poll() is None:
            self.send(signal.SIGINT)


def replica(models: Path, port: int, folder: Path, **settings: str) -> ServerProcess:
    """A replica of the service from this tree, its log in the folder; not started yet."""
    ours = {
        "LABELSERVE_MODELS_DIR": str(models),
        "LABELSERVE_PORT": str(port),
        "LABELSERVE_DATA_DIR": str(folder / f"var-{port}"),
        "LABELSERVE_DRAIN_SECONDS": "1",
        **settings,
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
    return ServerProcess(
        [sys.executable, "-m", "app.main"],
        port,
        "/health/ready",
        folder / f"replica-{port}.log",
        cwd=ROOT,
        env={**environment, **ours},
    )
