"""A run in namespaces of its own: processes, mounts and links end with its first process."""

import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from containers.engine.command import CommandError, run

MARK = "CLUSTER_CHECK_RUN"
"""A variable that every process of a run inherits, so that none can be overlooked."""
ENDING_SECONDS = 10
HOME = Path("/mnt")
"""Covered by a tmpfs inside the sandbox; the machine's own folder stays as it is."""
PROGRAMS = {
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}


def check_machine(programs: dict[str, str]) -> None:
    """Refuse a machine that lacks a program, or a user who is not root."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        raise CommandError("needs Linux, and root: it makes network and mount namespaces")
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    lacking = {package for name, package in programs.items() if not shutil.which(name, path=path)}
    if lacking:
        packages = " ".join(sorted(lacking))
        raise CommandError(f"not installed; on Debian: apt-get install {packages}")


def run_inside(words: Sequence[str], seconds: float) -> int:
    """The exit code of a command in a sandbox; whatever happens, nothing of it is left."""
    mark, before = secrets.token_hex(8), machine_state()
    unshare = ("unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child")
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *unshare, "--mount-proc", *words],
        env={**os.environ, MARK: mark},
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise CommandError(f"not done after {seconds:.0f} s") from None
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        process.kill()  # and with it, by --kill-child, every process inside
        process.wait()
        print(_left_behind(mark, before))


def machine_state() -> set[str]:
    """Links and mounts of the machine itself."""
    links = {line.split(":")[1].strip() for line in run(["ip", "-o", "link"]).splitlines()}
    return links | set(Path("/proc/self/mounts").read_text().splitlines())


def _left_behind(mark: str, before: set[str]) -> str:
    """A sentence about what is still there; the kernel takes a moment to end processes."""
    for process in _marked(mark):
        with suppress(ProcessLookupError), open(os.pidfd_open(process)) as ended:
            select.select([ended], [], [], ENDING_SECONDS)  # readable once it has ended
    left = [*map(str, _marked(mark)), *sorted(machine_state() - before)]
    return f"left behind: {', '.join(left) or 'no process, link or mount'}"


def _marked(mark: str) -> list[int]:
    """Processes of the run."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
        except OSError:  # ended meanwhile
            continue
    return found


def cover_home() -> None:
    """A tmpfs for all files of the run, inside the sandbox."""
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "cluster", HOME])
