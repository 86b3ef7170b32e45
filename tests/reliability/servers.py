"""A real server process on a free port, always ended by its own pid."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from bench.harness.processes import family, shared_memory

ROOT = Path(__file__).parents[2]
START_SECONDS = 60


@dataclass
class Server:
    """A running `python -m app.main`."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path
    data_dir: Path

    @property
    def spool(self) -> list[str]:
        folder = self.data_dir / "spool"
        return [name for name in os.listdir(folder) if not name.endswith(".lock")]

    @property
    def workers(self) -> list[int]:
        """The processes that serve, where there are several."""
        others = family(self.process.pid)[1:]
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in others}
        return sorted(pid for pid, command in commands.items() if b"spawn_main" in command)

    @property
    def memory(self) -> int:
        """Resident bytes of the server and its children, shared pages counted in part."""
        return sum(map(shared_memory, family(self.process.pid)))

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=120, **options)

    def stop(self) -> None:
        """End it at once, the supervisor first and then all that it has started."""
        if self.process.poll() is None:
            for pid in family(self.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait(30)

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        with self.client() as client:
            text = client.get("/metrics").text
        values = re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, values))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
    return port


def wait_until(holds: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    """Wait until something holds; fail when it does not within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    pytest.fail(f"did not come true within {seconds} seconds")


def _url(server: Server) -> str:
    found: list[str] = []

    def is_listening() -> bool:
        if server.process.poll() is not None:
            pytest.fail(f"the server ended: {server.log.read_text()}")
        found[:] = re.findall(r"serving on (http://[\d.]+:\d+)", server.log.read_text())
        return bool(found)

    wait_until(is_listening)
    return found[0]


def start(
    folder: Path,
    *,
    wait: bool = True,
    patch: str = "",
    within: Sequence[str] = (),
    output: int | None = None,
    **settings: Any,
) -> Server:
    """Start a server with these settings; wait until it is ready to answer.

    `patch` is a line of Python that the server runs first, for faults that no setting brings about.
    `within` is a command that becomes the server, given as its last arguments. `output` is the
    descriptor for its standard output and error, in place of a log; then its port must be given.
    """
    settings = {"data_dir": folder / "var", "port": 0, **settings}
    ours = {f"LABELSERVE_{name.upper()}": str(value) for name, value in settings.items()}
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
    log = folder / "log"
    code = ["-c", f"{patch}\nfrom app.main import main\nmain()"] if patch else ["-m", "app.main"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*within, sys.executable, *code],
            cwd=ROOT,
            env={**clean, **ours},
            stdout=file if output is None else output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{settings['port']}"
    server = Server(process, url, log, Path(settings["data_dir"]))
    try:
        if output is None:
            server.url = _url(server)
        if wait:
            wait_until(lambda: httpx.get(f"{server.url}/health/ready").status_code == 200)
    except BaseException:
        server.stop()
        raise
    return server


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
