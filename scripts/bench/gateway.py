"""A real nginx with deploy/'s configuration before real replicas, and clients that count failures.

Used by the tests of deploy/ and by the long runs; everything stays on the loopback address.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "deploy" / "nginx" / "nginx.conf"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
START_SECONDS, STOP_SECONDS = 180.0, 60.0


def free_ports(n: int) -> list[int]:
    """Ports that nobody listens on; all are held open together, so they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [int(held.getsockname()[1]) for held in sockets]
    for held in sockets:
        held.close()
    return ports


class Process:
    """A program of ours that answers on a port; ended by its own process id."""

    def __init__(self, command: list[str], port: int, path: str, log: Path, **options: Any) -> None:
        self.command, self.port, self.path, self.log = command, port, path, log
        self.options = options
        self.running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return at once."""
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(self.command, stdout=log, stderr=log, **self.options)

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


def replica(models: Path, port: int, folder: Path, **settings: str) -> Process:
    """A replica of the service from this tree, its log in the folder; not started yet."""
    ours = {
        "LABELSERVE_MODELS_DIR": str(models),
        "LABELSERVE_PORT": str(port),
        "LABELSERVE_DATA_DIR": str(folder / f"var-{port}"),
        "LABELSERVE_DRAIN_SECONDS": "1",
        **settings,
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABELSERVE_")}
    return Process(
        [sys.executable, "-m", "app.main"],
        port,
        "/health/ready",
        folder / f"replica-{port}.log",
        cwd=ROOT,
        env={**environment, **ours},
    )


def gateway(port: int, replicas: list[int], folder: Path) -> Process:
    """nginx with deploy/'s configuration; only ports and paths are put in place of its own."""
    if NGINX is None:
        raise FileNotFoundError("nginx is not installed")
    text = CONFIGURATION.read_text()
    for number, inside in enumerate(replicas, start=1):
        text = text.replace(f"replica-{number}:8000", f"127.0.0.1:{inside}")
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    text = re.sub(r"/tmp/", f"{folder}/", text)  # noqa: S108
    text = text.replace("/dev/stdout", f"{folder}/access.log")
    (folder / "nginx.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""  # else its workers could not enter the folder
    command = [NGINX, "-p", str(folder), "-c", f"{folder}/nginx.conf", "-g", f"daemon off; {user}"]
    return Process(command, port, "/gateway/health", folder / "gateway.log")


@dataclass
class Load:
    """Clients that post predictions all the time and note everything that is not right."""

    port: int
    body: dict[str, Any]
    clients: int = 16
    pause: float = 0.0
    sent: int = 0
    failures: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        """Load as long as the block lasts."""
        with closing(self._connection()) as connection:
            expected = self._post(connection)
        done = threading.Event()
        threads = [
            threading.Thread(target=self._post_until, args=(done, expected))
            for _ in range(self.clients)
        ]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            done.set()
            for thread in threads:
                thread.join()

    def _post_until(self, done: threading.Event, expected: Any) -> None:
        with closing(self._connection()) as connection:
            while not done.is_set():
                problem = self._problem(connection, expected)
                with self._lock:
                    self.sent += 1
                    if problem:
                        self.failures.append(problem)
                time.sleep(self.pause)

    def _problem(self, connection: http.client.HTTPConnection, expected: Any) -> str:
        """What was wrong with one more request; nothing, if all is well."""
        try:
            return "" if self._post(connection) == expected else "another answer"
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            return f"{type(error).__name__}: {error}"

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def _post(self, connection: http.client.HTTPConnection) -> Any:
        """The predictions; ValueError for any status but 200."""
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/predict", json.dumps(self.body), headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise ValueError(f"{response.status} {content[:200]!r}")
        return json.loads(content)["predictions"]


def restart_one_by_one(replicas: list[Process]) -> None:
    """A rolling restart: each replica ends in its own time, and is ready again before the next."""
    for one in replicas:
        code = one.send(signal.SIGTERM)
        if code:
            raise RuntimeError(f"a replica ended with exit code {code}")
        one.start()
        one.wait_until_ready()
