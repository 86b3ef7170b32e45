"""The container engine: docker where it answers, otherwise podman with its own storage."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from containers.engine import podman
from containers.engine.command import CommandError, run
from containers.engine.installing import install_packages, missing_packages, podman_compose


@dataclass(frozen=True)
class Engine:
    """How to call the engine and its compose, and what differs between docker and podman."""

    name: str
    compose: list[str]
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def is_podman(self) -> bool:
        """Whether it is podman: no health timers without systemd, builds that take mounts."""
        return self.name == "podman"

    @property
    def version(self) -> str:
        """Its name and version."""
        words = ["version", "--format", "{{.Client.Version}}"]
        return f"{self.name} {self(*words).strip()}"

    def __call__(self, *words: str | Path, seconds: float = 600, log: Path | None = None) -> str:
        """Run one command of the engine; what it printed."""
        return run([self.name, *words], env=self.env, seconds=seconds, log=log)

    def container(self, project: str, service: str) -> str:
        """The name that compose gives to a service's container."""
        return (
            f"{project}{'_' if self.is_podman else '-'}{service}{'_' if self.is_podman else '-'}1"
        )

    def remove_all(self) -> None:
        """Remove what a run may have left; docker's part is done by `compose down` alone."""
        if self.is_podman:
            podman.remove_all(self.env, self.home)

    def prepare(self) -> None:
        """Have the folders that `remove_all` took away ready again."""
        if self.is_podman:
            podman.environment(self.home)

    def forget_images(self) -> None:
        """Remove every image of earlier runs; docker's are its user's and stay."""
        if self.is_podman:
            self("system", "reset", "--force")
            podman.environment(self.home)

    def leftovers(self, project: str) -> list[str]:
        """Containers, volumes, networks and mounts of ours that are still there."""
        if self.is_podman:
            return podman.leftovers(self.env, self.home)
        label = ["--filter", f"label=com.docker.compose.project={project}", "--quiet"]
        kinds = {
            "container": ["ps", "--all"],
            "volume": ["volume", "ls"],
            "network": ["network", "ls"],
        }
        return [
            f"{kind} {one}" for kind, words in kinds.items() for one in self(*words, *label).split()
        ]


def find_engine(home: Path, *, is_allowed: bool) -> Engine:
    """Docker if its daemon answers, else podman, which is installed if that is allowed."""
    if docker_answers():
        return Engine("docker", ["docker", "compose"], home)
    if os.geteuid() != 0:
        raise CommandError(
            "no docker daemon answers, and podman needs root here: sudo make containers"
        )
    install_packages(missing_packages(), is_allowed=is_allowed)
    program = podman_compose(home / "compose")
    return Engine("podman", [str(program), "--in-pod", "false"], home, podman.environment(home))


def docker_answers() -> bool:
    """Whether there is a docker command with a daemon behind it."""
    if shutil.which("docker") is None:
        return False
    try:
        run(["docker", "info"], seconds=20)
    except CommandError:
        return False
    return True
