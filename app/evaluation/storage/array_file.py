"""Arrays on disk while an evaluation runs: written once from front to back, read in blocks."""

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.npy import header_bytes, open_plain, synced_facts
from app.errors import PayloadTooLargeError, StorageFullError


class ArrayFile:
    """One-dimensional items of one type, appended to a file; memory holds only a block of them.

    Read with plain reads, not a memory map: mapped pages would count as memory of the process.
    The items begin after `offset` bytes, which are left to others.
    """

    def __init__(
        self, path: Path, dtype: Any, *, offset: int = 0, length: int | None = None
    ) -> None:
        """A new, empty file; or, where its length is given, one that is there, to be read."""
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.offset, self.length = offset, length or 0
        self._file: IO[bytes] = open_plain(path) if length is not None else path.open("w+b")

    def append(self, items: NDArray[Any]) -> None:
        """Add items at the end."""
        with _write_errors():
            self._file.seek(self.offset + self.length * self.dtype.itemsize)
            self._file.write(np.ascontiguousarray(items, self.dtype).data)
        self.length += len(items)

    def read(self, start: int, count: int) -> NDArray[Any]:
        """`count` items from `start` on."""
        with _write_errors():
            self._file.flush()
        self._file.seek(self.offset + start * self.dtype.itemsize)
        return np.fromfile(self._file, self.dtype, max(0, min(count, self.length - start)))

    def blocks(self, size: int) -> Iterator[NDArray[Any]]:
        """All items, `size` at a time."""
        for start in range(0, self.length, size):
            yield self.read(start, size)

    def seal(self, name: str) -> dict[str, Any]:
        """Make it a whole .npy file, through to the disk; what a manifest must say about it.

        Its offset must be what the header takes.
        """
        with _write_errors():
            self._file.seek(0)
            self._file.write(header_bytes(self.dtype.str, [self.length], is_fortran=False))
            return synced_facts(self._file, self.dtype, [self.length], name)

    def close(self) -> None:
        """Close the file; whoever made the folder removes it."""
        with suppress(OSError):  # of what was never written, and is not wanted any more
            self._file.close()


@contextmanager
def _write_errors() -> Iterator[None]:
    """What the disk refuses, at once or when its buffer is written, has a name."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EFBIG:
            limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
            raise PayloadTooLargeError("a working file", limit, "bytes") from error
        raise StorageFullError(f"the scratch folder cannot be written: {error}") from error


def room_for(n_bytes: int) -> int:
    """How many items of so many bytes a file of this process may hold."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = int(np.iinfo(np.int64).max if limit == resource.RLIM_INFINITY else limit)
    return most // n_bytes
