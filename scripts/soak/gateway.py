"""A real nginx or HAProxy with deploy/'s configuration before replicas, and clients that count.

Used by the tests of deploy/ and by the long runs; everything stays on the loopback address.
"""

import http.client
import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.harness.environment import ROOT
from bench.harness.server_process import ServerProcess

HEALTH = "/gateway/health"
SEARCHED = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
NGINX, HAPROXY = (shutil.which(name, path=SEARCHED) for name in ("nginx", "haproxy"))
NOBODY: Mapping[str, str] = MappingProxyType({})

Gateway = Callable[..., ServerProcess]
"""(port, ports of replicas, folder, identity) → a gateway that is not started yet.

`identity` has the headers that a gateway sets once it has checked who calls."""


def nginx(
    port: int, replicas: list[int], folder: Path, identity: Mapping[str, str] = NOBODY
) -> ServerProcess:
    """nginx with deploy/'s configuration; only ports and paths are put in place of its own."""
    if NGINX is None:
        raise FileNotFoundError("nginx is not installed")
    text = _configuration("nginx/nginx.conf", replicas)
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for name, value in identity.items():
        text = text.replace(f'proxy_set_header {name} "";', f'proxy_set_header {name} "{value}";')
    text = re.sub(r"/tmp/", f"{folder}/", text)  # noqa: S108
    text = text.replace("/dev/stdout", f"{folder}/access.log")
    (folder / "nginx.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""  # else its workers could not enter the folder
    command = [NGINX, "-p", str(folder), "-c", f"{folder}/nginx.conf", "-g", f"daemon off; {user}"]
    return ServerProcess(command, port, HEALTH, folder / "gateway.log")


def haproxy(
    port: int, replicas: list[int], folder: Path, identity: Mapping[str, str] = NOBODY
) -> ServerProcess:
    """HAProxy with deploy/'s configuration; only ports are put in place of its own."""
    if HAPROXY is None:
        raise FileNotFoundError("haproxy is not installed")
    text = _configuration("haproxy/haproxy.cfg", replicas)
    text = text.replace("bind :8080", f"bind 127.0.0.1:{port}")
    for name, value in identity.items():
        text = text.replace(f"del-header {name}", f"set-header {name} {value}")
    (folder / "haproxy.cfg").write_text(text)
    command = [HAPROXY, "-db", "-f", f"{folder}/haproxy.cfg"]
    return ServerProcess(command, port, HEALTH, folder / "access.log")


GATEWAYS: dict[str, tuple[str | None, Gateway]] = {
    "nginx": (NGINX, nginx),
    "haproxy": (HAPROXY, haproxy),
}
"""The program of each gateway that deploy/ has a configuration for, and how it is made."""


def _configuration(file: str, replicas: list[int]) -> str:
    text = (ROOT / "deploy" / file).read_text()
    for number, inside in enumerate(replicas, start=1):
        text = text.replace(f"replica-{number}:8000", f"127.0.0.1:{inside}")
    return text


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


def restart_one_by_one(replicas: list[ServerProcess]) -> None:
    """A rolling restart: each replica ends in its own time, and is ready again before the next."""
    for one in replicas:
        code = one.send(signal.SIGTERM)
        if code:
            raise RuntimeError(f"a replica ended with exit code {code}")
        one.start()
        one.wait_until_ready()
