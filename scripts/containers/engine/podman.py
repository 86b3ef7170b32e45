"""Podman with a storage of its own: other containers of the machine are not seen or touched."""

import os
import resource
import shutil
from contextlib import suppress
from pathlib import Path

from containers.engine.command import CommandError, run

RUN_DIR = Path("/run/labelserve-containers")
ENOUGH = 16384  # files or processes
# static_dir is where podman looks when it is told the graphroot alone, as when it restarts one.
CONTAINERS_CONF = """\
[containers]
log_driver = "k8s-file"
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
static_dir = "{home}/storage/libpod"
volume_path = "{home}/storage/volumes"
tmp_dir = "{run}/libpod"
[network]
network_backend = "netavark"
network_config_dir = "{home}/networks"
"""
STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{home}/storage"
runroot = "{run}/storage"
"""
REGISTRIES_CONF = 'unqualified-search-registries = ["docker.io"]\n'


def environment(home: Path) -> dict[str, str]:
    """The variables with which podman, and what calls it, uses the storage below `home`."""
    home.mkdir(parents=True, exist_ok=True)
    RUN_DIR.mkdir(mode=0o700, exist_ok=True)
    files = {
        "CONTAINERS_CONF": ("containers.conf", CONTAINERS_CONF),
        "CONTAINERS_STORAGE_CONF": ("storage.conf", STORAGE_CONF),
        "CONTAINERS_REGISTRIES_CONF": ("registries.conf", REGISTRIES_CONF),
    }
    for name, text in files.values():
        (home / name).write_text(filled(text, home))
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return {"PATH": path, **{key: str(home / name) for key, (name, _) in files.items()}}


def filled(text: str, home: Path) -> str:
    """A file with this machine's folders, and limits that it may set: podman's own are higher."""
    kinds = {"{files}": resource.RLIMIT_NOFILE, "{processes}": resource.RLIMIT_NPROC}
    values = {name: str(smaller(resource.getrlimit(kind)[1])) for name, kind in kinds.items()}
    for name, value in {"{home}": str(home), "{run}": str(RUN_DIR), **values}.items():
        text = text.replace(name, value)
    return text


def smaller(limit: int) -> int:
    """A limit that may be set without CAP_SYS_RESOURCE and is enough for any container here."""
    return ENOUGH if limit == resource.RLIM_INFINITY else min(limit, ENOUGH)


def remove_all(env: dict[str, str], home: Path) -> None:
    """Remove every container, volume, network and mount of this storage; images stay."""
    with suppress(CommandError):  # those of a build that was broken off too
        for one in run(["podman", "ps", "--all", "--external", "--quiet"], env=env).split():
            run(["podman", "rm", "--force", "--time", "0", one], env=env)
    for words in (
        ["volume", "rm", "--all", "--force"],
        ["network", "prune", "--force"],
        ["umount", "--all"],
    ):
        with suppress(CommandError):
            run(["podman", *words], env=env)
    for mount in reversed(mounts_below(home, RUN_DIR)):
        with suppress(CommandError):
            run(["umount", mount])
    if not mounts_below(RUN_DIR):
        shutil.rmtree(RUN_DIR, ignore_errors=True)


def leftovers(env: dict[str, str], home: Path) -> list[str]:
    """What `remove_all` should have removed and did not."""
    asked = {
        "container": ["ps", "--all", "--external", "--format", "{{.Names}}"],
        "volume": ["volume", "ls", "--format", "{{.Name}}"],
        "network": ["network", "ls", "--format", "{{.Name}}"],
    }
    found = [
        f"{kind} {name}"
        for kind, words in asked.items()
        for name in run(["podman", *words], env=env).split()
        if (kind, name) != ("network", "podman")  # the one that podman always has
    ]
    for mount in reversed(mounts_below(home, RUN_DIR)):  # asking made one
        with suppress(CommandError):
            run(["umount", mount])
    shutil.rmtree(RUN_DIR, ignore_errors=True)
    return found + [f"mount {mount}" for mount in mounts_below(home, RUN_DIR)]


def mounts_below(*folders: Path) -> list[str]:
    """Mount points below the folders, outer ones first."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if any(Path(point).is_relative_to(f) for f in folders)]
