"""A real server process on a free port, always ended by its own pid."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

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
    def memory(self) -> int:
        """Resident bytes of the server and its children, shared pages counted in part."""
        return sum(_pss(pid) for pid in [self.process.pid, *descendants(self.process.pid)])

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, **options)

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        with self.client() as client:
            text = client.get("/metrics").text
        values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, values))


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(c) for child in children for c in (child, *descendants(int(child)))]


def _pss(pid: int) -> int:
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


Started = Callable[..., Server]


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """`started(models_dir, max_documents=3)`: a server with these settings, ready to answer."""
    servers: list[Server] = []

    def start(models_dir: Path, *, wait: bool = True, **settings: Any) -> Server:
        folder = tmp_path_factory.mktemp("server")
        settings = {"models_dir": models_dir, "data_dir": folder / "var", "port": 0, **settings}
        ours = {f"LABELSERVE_{name.upper()}": str(value) for name, value in settings.items()}
        clean = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.main"],
                cwd=ROOT,
                env={**clean, **ours},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        server = Server(process, "", log, Path(settings["data_dir"]))
        servers.append(server)
        server.url = _url(server)
        if wait:
            wait_until(lambda: httpx.get(f"{server.url}/health/ready").status_code == 200)
        return server

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait(30)


@pytest.fixture(scope="session")
def server(started: Started, tiny_models: Path) -> Server:
    """One server for all tests that leave it as it was."""
    return started(tiny_models, poll_seconds=0.2)


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


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
