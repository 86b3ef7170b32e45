"""docker-compose.yml as it stands, in a folder of its own: services started and stopped."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from containers.client import Client
from containers.engine.command import CommandError, run
from containers.engine.engine import Engine

ROOT = Path(__file__).parents[2]
PROJECT = "labelserve-check"
REPLICAS = ("replica-1", "replica-2")
READY_SECONDS = 90


@dataclass
class Stack:
    """The services of one compose project, and the key that they printed at their first start."""

    engine: Engine
    folder: Path
    port: int
    log: Path
    files: list[str] = field(default_factory=lambda: ["docker-compose.yml"])
    settings: dict[str, str] = field(default_factory=dict)
    key: str = ""

    def prepare(self) -> None:
        """Copy the files that compose reads; models and data are this run's own, for user 1000."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        shutil.copy2(ROOT / "docker-compose.yml", self.folder)
        shutil.copytree(ROOT / "deploy", self.folder / "deploy")
        for name in ("models", "data"):
            (self.folder / name).mkdir()
            (self.folder / name).chmod(0o777)  # users of containers write here

    @property
    def client(self) -> Client:
        """A client of the gateway with the key."""
        return Client("127.0.0.1", self.port, self.key)

    def compose(self, *words: str, seconds: float = 300) -> str:
        """One command of compose."""
        files = [word for file in self.files for word in ("--file", file)]
        env = {**self.engine.env, "GATEWAY_PORT": str(self.port), **self.settings}
        command = [*self.engine.compose, "--project-name", PROJECT, *files, *words]
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(command)}\n")
        return run(command, env=env, cwd=self.folder, seconds=seconds)

    def name(self, service: str) -> str:
        """The name of a service's container."""
        return self.engine.container(PROJECT, service)

    def up(self, *services: str, profile: str = "") -> None:
        """Make and start services, one after another; podman does not wait for health itself."""
        profiles = ["--profile", profile] if profile else []
        for service in services:
            self.compose(*profiles, "up", "--detach", "--no-deps", "--no-build", service)

    def make_key(self) -> None:
        """Run `keys`; its log has the key that all later requests are sent with."""
        self.up("keys")
        self.engine("wait", self.name("keys"), seconds=60)
        self.key = self.engine("logs", self.name("keys")).split()[-1]

    def wait_until_healthy(self, *services: str) -> float:
        """Play every service's health check until it passes; how many seconds that took."""
        began = time.monotonic()
        for service in services:
            wait_for(lambda one=service: self.is_healthy(one), READY_SECONDS, f"{service} healthy")  # type: ignore[misc]
        return time.monotonic() - began

    def is_healthy(self, service: str) -> bool:
        """Whether the container's own health check passes now."""
        if not self.engine.is_podman:
            state = self.inspect(service)["State"]
            return bool(state.get("Health", {}).get("Status") == "healthy")
        try:
            self.engine("healthcheck", "run", self.name(service), seconds=30)
        except CommandError:
            return False
        return True

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine knows of a service's container."""
        (found,) = json.loads(self.engine("container", "inspect", self.name(service)))
        return dict(found)

    def is_running(self, service: str) -> bool:
        """Whether its container runs."""
        return bool(self.inspect(service)["State"]["Running"])

    def address(self, service: str) -> str:
        """Its address on the inner network, which the machine itself reaches."""
        networks = self.inspect(service)["NetworkSettings"]["Networks"]
        (inside,) = [value for name, value in networks.items() if name.endswith("inside")]
        return str(inside["IPAddress"])

    def execute(self, service: str, *words: str) -> str:
        """What a command prints inside a service's container."""
        return self.engine("exec", self.name(service), *words, seconds=60)

    def stop(self, service: str) -> float:
        """Stop a service as compose does, with its grace period; how many seconds it took."""
        began = time.monotonic()
        self.engine("stop", "--time", "45", self.name(service))
        return time.monotonic() - began

    def replace(self, service: str) -> None:
        """A new container in the place of the old one, which is stopped in order."""
        self.stop(service)
        self.remove(service)
        self.up(service)

    def remove(self, *services: str) -> None:
        """Remove containers, running or not."""
        for service in services:
            self.engine("rm", "--force", "--volumes", self.name(service))

    def down(self) -> None:
        """Remove every container, volume and network of the project."""
        profiles = [w for name in ("train", "monitoring", "postgres") for w in ("--profile", name)]
        self.compose(*profiles, "down", "--volumes", "--timeout", "10")


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Ask until the condition holds; the seconds it took, or an error with what was awaited."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.1)
    return time.monotonic() - began
