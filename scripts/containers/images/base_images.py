"""The images that others publish: pulled, or stood in for by what Debian's packages hold."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from containers.engine.command import CommandError, run
from containers.engine.engine import Engine

STANDINS = Path(__file__).parents[1] / "standins"
PULL_SECONDS = 60
NEVER_RUN = {"grafana"}  # Debian has no package of it


@dataclass(frozen=True)
class BaseImages:
    """Has every image that the Dockerfile and the compose files name ready, under its own name."""

    engine: Engine
    root: Path
    log: Path

    def ready(self, base: str, files: list[Path]) -> dict[str, str]:
        """Where each image came from, by name: `kept`, `pulled` or `stand-in`."""
        origins = {base: self._origin_of_base(base)}
        is_pulled = origins[base] == "pulled"
        for name in published(files):
            origins[name] = self._origin(name, base, is_pulled)
        return origins

    def _origin_of_base(self, base: str) -> str:
        if self.is_here(base):
            return "kept"
        if self._is_pulled(base):
            return "pulled"
        self._bootstrap(base)
        return "stand-in"

    def _origin(self, name: str, base: str, is_pulled: bool) -> str:
        if self.is_here(name):
            return "kept"
        if is_pulled and self._is_pulled(name):
            return "pulled"
        file = STANDINS / f"{kind(name)}.Dockerfile"
        words = ["build", "--network=host", f"--build-arg=BASE={base}", f"--file={file}"]
        self.engine(*words, f"--tag={full_name(name)}", STANDINS, log=self.log)
        return "stand-in"

    def is_here(self, name: str) -> bool:
        """Whether the image is in the storage."""
        return bool(self.engine("images", "--quiet", full_name(name)).strip())

    def _is_pulled(self, name: str) -> bool:
        try:
            self.engine("pull", "--quiet", full_name(name), seconds=PULL_SECONDS)
        except CommandError:
            return False
        return True

    def _bootstrap(self, base: str) -> None:
        """Make a Debian of the smallest size with Python, and import it under the base's name."""
        folder = self.root / "debian"
        shutil.rmtree(folder, ignore_errors=True)
        suite, mirror = debian()
        words = [
            "debootstrap",
            "--variant=minbase",
            "--include=python3,python3-venv,ca-certificates",
        ]
        run([*words, suite, folder, mirror], env=self.engine.env, log=self.log)
        for rubbish in ("var/cache/apt/archives", "var/lib/apt/lists"):
            shutil.rmtree(folder / rubbish)
        (folder / "usr/bin/python").symlink_to("python3")
        archive = self.root / "debian.tar"
        run(["tar", "--create", f"--file={archive}", f"--directory={folder}", "."])
        self.engine("import", "--quiet", archive, full_name(base))
        archive.unlink()
        shutil.rmtree(folder)


def published(files: list[Path]) -> list[str]:
    """Images of others that the compose files name and that are run here."""
    names = [
        name for file in files for name in re.findall(r"^ +image: (\S+)", file.read_text(), re.M)
    ]
    return [n for n in dict.fromkeys(names) if kind(n) not in {*NEVER_RUN, "labelserve"}]


def kind(name: str) -> str:
    """The program that an image holds: `prometheus` of `prom/prometheus:v3.5.0`."""
    return name.rpartition(":")[0].rpartition("/")[2]


def full_name(name: str) -> str:
    """The name with its registry, which podman asks for when it is to be sure."""
    return f"docker.io/{name if '/' in name else f'library/{name}'}"


def debian() -> tuple[str, str]:
    """This machine's Debian: the suite's name and the mirror that apt uses."""
    text = Path("/etc/os-release").read_text()
    suite = re.search(r"^VERSION_CODENAME=(\w+)", text, re.M)
    targets = run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"]
    )
    pairs = [line.split() for line in targets.splitlines()]
    mirrors = [pair[1] for pair in pairs if suite and pair[0] == suite[1]]
    if suite is None or not mirrors:
        raise CommandError("no image registry answers, and apt names no mirror of this Debian")
    return suite[1], mirrors[0]
