"""ScratchFolder: large arrays in temporary files, mapped, so that memory need not hold them."""

import mmap as mapping
import os
import tempfile
from collections.abc import Sequence
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features
from app.errors import StorageFullError, errno_text

DONTNEED: int | None = getattr(mapping, "MADV_DONTNEED", None)
"""None on Windows: pages leave memory when the system wants them to."""
LEAST_BYTES = 16 << 20
"""Arrays below it stay in memory: they are not what it is short of."""
COPIED = 8 << 20
"""Bytes that are copied to a file before their pages are released."""


class ScratchFolder:
    """Gives arrays that lie in files without a name; a file goes with the last view of its array.

    Reading them gives the same bits as reading arrays in memory. `release` takes their pages out of
    the process again: a page that was changed is written to the file by the system, in its time.
    """

    def __init__(self, folder: Path | None = None, *, least_bytes: int = LEAST_BYTES) -> None:
        self._folder, self._least_bytes = folder, least_bytes

    def empty(self, shape: Sequence[int], dtype: Any) -> NDArray[Any]:
        """Zeros in a file, or an array in memory where it would be small."""
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if n_bytes < max(self._least_bytes, 1):
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            _reserve(file.fileno(), n_bytes)
            mapped = mmap(file.fileno(), n_bytes)  # keeps a descriptor of its own
        return np.frombuffer(mapped, dtype).reshape(shape)

    def moved(self, array: NDArray[Any]) -> NDArray[Any]:
        """An equal array in a file; itself where it is small or in a file already."""
        if array.nbytes < max(self._least_bytes, 1) or _mapping(array) is not None:
            return array
        target = self.empty(array.shape, array.dtype)
        step = max(1, COPIED // max(1, array.nbytes // max(1, len(array))))
        for start in range(0, len(array), step):
            target[start : start + step] = array[start : start + step]
            release(target)
        return target

    def moved_rows(self, features: Features) -> Features:
        """Equal rows, columns and values of which lie in files."""
        arrays = (self.moved(features.data), self.moved(features.indices), features.indptr)
        return type(features)(arrays, shape=features.shape)


def release(*arrays: NDArray[Any]) -> None:
    """Take the pages of arrays that lie in files out of this process; others are left alone."""
    for array in arrays:
        mapped = _mapping(array)
        if mapped is not None and DONTNEED is not None:
            mapped.madvise(DONTNEED)


def _mapping(array: Any) -> mmap | None:
    while isinstance(array, np.ndarray):
        array = array.base
    owner = array.obj if isinstance(array, memoryview) else array
    return owner if isinstance(owner, mmap) else None


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Give the file its size and its room: a write to a page without room would end the process."""
    try:
        os.ftruncate(descriptor, n_bytes)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, n_bytes)
    except OSError as error:
        problem = f"the scratch folder has no room for {n_bytes / 1e9:.1f} GB ({errno_text(error)})"
        raise StorageFullError(f"{problem}: give another one with --scratch") from error
