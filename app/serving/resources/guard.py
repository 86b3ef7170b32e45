"""ResourceGuard: refuses work before memory or disk are used up, while there is room to say so."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from app.errors import OverloadedError, StorageFullError
from app.resources.memory import MemoryUse, usages

LOOK_SECONDS = 0.05
"""A look at memory is good for so long: it takes some tens of microseconds."""
LARGE = 1 << 20
"""Bytes for which memory is always looked at anew."""


class ResourceGuard:
    """Shares in percent at which work is refused; health and telemetry ask nobody."""

    def __init__(
        self,
        data_dir: Path,
        *,
        memory_percent: float,
        disk_percent: float,
        memory: Callable[[], Iterable[MemoryUse]] = usages,
    ) -> None:
        self._data_dir, self._memory = data_dir, memory
        self._most_memory, self._most_disk = memory_percent / 100, disk_percent / 100
        self._look_at, self._usages = 0.0, list[MemoryUse]()

    def check_memory(self, n_bytes: int = 0) -> None:
        """OverloadedError where so many bytes more would be more than is allowed."""
        now = monotonic()
        if now >= self._look_at or n_bytes >= LARGE:
            self._look_at, self._usages = now + LOOK_SECONDS, list(self._memory())
        if any(usage.share(n_bytes) > self._most_memory for usage in self._usages):
            raise OverloadedError("nearly all memory is in use; try again later")

    def check_disk(self) -> None:
        """StorageFullError where the disk of the data folder is fuller than is allowed."""
        if self.disk_share() > self._most_disk:
            raise StorageFullError("nearly all of the disk is in use; try again later")

    def ratios(self) -> dict[str, float]:
        """What is in use of what may be in use, by resource; above 1 work is refused."""
        memory = max((usage.share() for usage in self._memory()), default=0.0)
        return {
            "memory": memory / self._most_memory,
            "disk": self.disk_share() / self._most_disk,
        }

    def disk_share(self) -> float:
        """The share of the disk that is used, or not for us to use; 0 where it cannot be told."""
        for folder in (self._data_dir, *self._data_dir.absolute().parents):
            try:
                found = os.statvfs(folder)
            except OSError:  # not made yet
                continue
            return 1 - found.f_bavail / found.f_blocks if found.f_blocks else 0.0
        return 0.0
