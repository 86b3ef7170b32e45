"""What Linux tells of running processes: children, CPU and memory; and ports that are free."""

import os
import re
import socket
from contextlib import suppress
from pathlib import Path


def family(pid: int) -> list[int]:
    """This process, every one that it has started, and theirs."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, task.read_text().split())
    return [pid, *(member for child in children for member in family(child))]


def cpu_seconds(pid: int) -> float:
    """User and system CPU of one process so far, without its children; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shared_memory(pid: int) -> int:
    """Resident bytes, where a page that n processes share counts for one n-th; 0 if it is gone."""
    return _kilobytes(pid, "smaps_rollup", "Pss") * 1024


def resident_memory(pid: int) -> int:
    """Resident bytes, shared pages in full; 0 if it is gone."""
    return _kilobytes(pid, "status", "VmRSS") * 1024


def _kilobytes(pid: int, file: str, field: str) -> int:
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return 0
    line = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(line[1]) if line else 0


def free_ports(n: int) -> list[int]:
    """Ports that nobody listens on; all are held open together, so they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [int(held.getsockname()[1]) for held in sockets]
    for held in sockets:
        held.close()
    return ports
