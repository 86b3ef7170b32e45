"""Installs what a bare Debian machine lacks, after it was allowed to."""

import os
import shutil
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

from containers.engine.command import CommandError, run

PROGRAMS = {
    "podman": "podman",
    "runc": "runc",  # crun, podman's first choice, fails where both versions of cgroups are mounted
    "iptables": "iptables",
    "debootstrap": "debootstrap",
}
LIBRARIES = {
    Path("/usr/lib/podman/netavark"): "netavark",
    Path("/usr/lib/podman/aardvark-dns"): "aardvark-dns",
}
COMPOSE = "podman-compose==1.6.0"


class NotAllowedError(Exception):
    """Something is missing and may not be installed."""


def missing_packages() -> list[str]:
    """The Debian packages that podman needs here and that are not installed."""
    programs = [package for name, package in PROGRAMS.items() if not _is_installed(name)]
    libraries = [package for file, package in LIBRARIES.items() if not file.exists()]
    return programs + libraries + ([] if find_spec("ensurepip") else ["python3-venv"])


def install_packages(packages: list[str], *, is_allowed: bool) -> None:
    """Install them with apt-get; asks first unless that was allowed beforehand."""
    if not packages:
        return
    if not (is_allowed or _agrees(f"install {' '.join(packages)} with apt-get?")):
        raise NotAllowedError(f"needs {', '.join(packages)}: install them, or say --yes")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        run(["apt-get", "update", "-qq"])
    except CommandError as error:  # one source out of reach does not matter if the others do
        print(error, file=sys.stderr)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], env=quiet)


def podman_compose(folder: Path) -> Path:
    """podman-compose, in an environment of its own below the folder."""
    program = folder / "bin" / "podman-compose"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        run([folder / "bin" / "pip", "install", "--quiet", COMPOSE])
    return program


def _is_installed(program: str) -> bool:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return shutil.which(program, path=path) is not None


def _agrees(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
