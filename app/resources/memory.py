"""Memory: how much of each limit is used that would end the process: machine, cgroup, rlimit."""

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PAGE = resource.getpagesize()
KIB = 1024
PROCESS, CGROUPS = Path("/proc/self"), Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60
"""More than any machine has: what version 1 of cgroups says where there is no limit."""


class MemoryUse(NamedTuple):
    """Bytes used of a limit."""

    used: int
    limit: int

    def share(self, more: int = 0) -> float:
        """The share that would be used with so many bytes more."""
        return (self.used + more) / self.limit


def usages() -> Iterator[MemoryUse]:
    """What is used of each limit there is; what cannot be read is left out."""
    for found in (_of_machine, _of_cgroup, _of_address_space, _of_data):
        with suppress(OSError, ValueError, KeyError, IndexError):
            usage = found()
            if usage is not None and 0 < usage.limit < UNLIMITED:
                yield usage


def bytes_left() -> int | None:
    """What may still be used before the first limit is reached; None where no limit is known."""
    return min((max(0, usage.limit - usage.used) for usage in usages()), default=None)


def _of_machine() -> MemoryUse:
    lines = Path("/proc/meminfo").read_text().splitlines()
    kibibytes = {name: int(rest.split()[0]) for name, _, rest in (s.partition(":") for s in lines)}
    total = kibibytes["MemTotal"]
    return MemoryUse((total - kibibytes["MemAvailable"]) * KIB, total * KIB)


def _of_cgroup() -> MemoryUse | None:
    """The group of this process; what the kernel can drop of the page cache is not used."""
    groups = dict(_cgroups())
    if "" in groups:
        return _group(CGROUPS / groups[""], "memory.max", "memory.current", "inactive_file")
    path = CGROUPS / "memory" / groups["memory"]
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    return _group(path, *names)


def _cgroups() -> Iterator[tuple[str, str]]:
    for line in (PROCESS / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path.lstrip("/")


def _group(path: Path, limit: str, used: str, droppable: str) -> MemoryUse | None:
    if not (path / limit).exists():  # in a container the group is mounted as the root
        path = CGROUPS if limit == "memory.max" else CGROUPS / "memory"
    most = (path / limit).read_text().strip()
    if most == "max":
        return None
    lines = (path / "memory.stat").read_text().splitlines()
    dropped = dict(line.split() for line in lines).get(droppable, 0)
    return MemoryUse(int((path / used).read_text()) - int(dropped), int(most))


def _of_address_space() -> MemoryUse | None:
    return _of_rlimit(resource.RLIMIT_AS, column=0)


def _of_data() -> MemoryUse | None:
    return _of_rlimit(resource.RLIMIT_DATA, column=5)


def _of_rlimit(kind: int, column: int) -> MemoryUse | None:
    limit, _ = resource.getrlimit(kind)
    if limit == resource.RLIM_INFINITY:
        return None
    return MemoryUse(int((PROCESS / "statm").read_text().split()[column]) * PAGE, limit)
