"""What Linux tells of a running process: those it has started, and its memory."""

import re
from contextlib import suppress
from pathlib import Path


def family(pid: int) -> list[int]:
    """This process, every one that it has started, and theirs."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, task.read_text().split())
    return [pid, *(found for child in children for found in family(child))]


def shared_memory(pid: int) -> int:
    """Resident bytes, where a page that n processes share counts for one n-th; 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
