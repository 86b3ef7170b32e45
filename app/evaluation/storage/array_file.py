"""Arrays on disk while an evaluation runs: written once from front to back, read in blocks."""

import errno
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import PayloadTooLargeError, StorageFullError


class ArrayFile:
    """One-dimensional items of one type, appended to a file; memory holds only a block of them.

    Read with plain reads, not a memory map: mapped pages would count as memory of the process.
    """

    def __init__(self, path: Path, dtype: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.length = 0
        self._file = path.open("w+b")

    def append(self, items: NDArray[Any]) -> None:
        """Add items at the end."""
        self._file.seek(self.length * self.dtype.itemsize)
        try:
            self._file.write(np.ascontiguousarray(items, self.dtype).data)
        except OSError as error:
            if error.errno == errno.EFBIG:
                limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
                raise PayloadTooLargeError("a working file", limit, "bytes") from error
            raise StorageFullError(f"the scratch folder cannot be written: {error}") from error
        self.length += len(items)

    def read(self, start: int, count: int) -> NDArray[Any]:
        """`count` items from `start` on."""
        self._file.flush()
        self._file.seek(start * self.dtype.itemsize)
        return np.fromfile(self._file, self.dtype, max(0, min(count, self.length - start)))

    def blocks(self, size: int) -> Iterator[NDArray[Any]]:
        """All items, `size` at a time."""
        for start in range(0, self.length, size):
            yield self.read(start, size)

    def close(self) -> None:
        """Close the file; whoever made the folder removes it."""
        self._file.close()


def room_for(n_bytes: int) -> int:
    """How many items of so many bytes a file of this process may hold."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = int(np.iinfo(np.int64).max if limit == resource.RLIM_INFINITY else limit)
    return most // n_bytes
