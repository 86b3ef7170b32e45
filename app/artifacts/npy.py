"""One array as one .npy file: written with its facts, mapped only after every fact was checked."""

import hashlib
import os
import re
import stat
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from app.artifacts.manifest import File
from app.errors import DamagedArtifactError

DTYPES = frozenset(
    np.dtype(kind).newbyteorder("<").str for kind in ("?", *"bhiqBHIQ", *"efd")
)  # plain numbers, little-endian; never objects
CHUNK = 1 << 22
INFINITE = ("cut", "cuts", "threshold", "thresholds")
"""An array may hold infinities only if the last word of its name is one of these."""


def write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    """Write the array to a new file, through to the disk; what the manifest must say about it."""
    plain = np.asarray(array)
    plain = np.asarray(plain, plain.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise ValueError(f"{path.name}: arrays hold plain numbers, not {plain.dtype}")
    with path.open("xb") as file:
        npy_format.write_array(file, plain, version=(1, 0), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    with path.open("rb") as file:
        _, offset = _header(file)
        file.seek(0)
        digest = _digest(file, offset, plain.dtype, path.name)
    return {
        "size": path.stat().st_size,
        "dtype": plain.dtype.str,
        "shape": list(plain.shape),
        "sha256": digest,
    }


def open_array(path: Path, expected: File, place: str) -> NDArray[Any]:
    """The array, memory-mapped read-only, if the file is to the byte what the manifest says."""
    what = f"{place}: {path.name}"
    with open_plain(path) as file:
        before = os.fstat(file.fileno())
        check_regular(before, expected.size, what)
        dtype, shape, order, offset = _checked_header(file, expected, what)
        file.seek(0)
        if _digest(file, offset, dtype, what) != expected.sha256:
            raise DamagedArtifactError(f"{what} was changed: its SHA-256 differs")
        if _changed(before, os.fstat(file.fileno())):
            raise DamagedArtifactError(f"{what} changed while it was read: a copy is under way")
        return _mapped(file, dtype, shape, order, offset)


def open_plain(path: Path) -> IO[bytes]:
    """The file, open for reading; a symbolic link is an error and a pipe does not block."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags), "rb")


def check_regular(found: os.stat_result, size: int, what: str) -> None:
    """Refuse what is no plain file of this size."""
    if stat.S_ISLNK(found.st_mode):
        raise DamagedArtifactError(f"{what} is a symbolic link; only plain files are read")
    if not stat.S_ISREG(found.st_mode):
        raise DamagedArtifactError(f"{what} is not a plain file")
    if found.st_size < size:
        missing = size - found.st_size
        raise DamagedArtifactError(f"{what} ends {missing} of {size} bytes too early")
    if found.st_size > size:
        raise DamagedArtifactError(f"{what} has {found.st_size - size} bytes after its end")


def _checked_header(
    file: IO[bytes], expected: File, what: str
) -> tuple[np.dtype[Any], tuple[int, ...], Any, int]:
    try:
        (shape, fortran, dtype), offset = _header(file)
    except (ValueError, OverflowError, RecursionError, MemoryError):
        raise DamagedArtifactError(f"{what} has no valid .npy header") from None
    if dtype.str not in DTYPES or dtype.str != expected.dtype:
        raise DamagedArtifactError(f"{what} holds {dtype}, its manifest says {expected.dtype}")
    if list(shape) != expected.shape:
        raise DamagedArtifactError(f"{what} has a header of another shape than its manifest says")
    if offset + dtype.itemsize * prod(shape) != expected.size:
        raise DamagedArtifactError(f"{what} claims a shape that {expected.size} bytes cannot hold")
    return dtype, shape, "F" if fortran else "C", offset


def _header(file: IO[bytes]) -> tuple[tuple[tuple[int, ...], bool, np.dtype[Any]], int]:
    if npy_format.read_magic(file) != (1, 0):
        raise ValueError("only .npy format 1.0 is written")
    header = npy_format.read_array_header_1_0(file, max_header_size=4096)
    return header, file.tell()


def _digest(file: IO[bytes], offset: int, dtype: np.dtype[Any], what: str) -> str:
    """SHA-256 of the file; on the way every float is checked, so the bytes are read once."""
    digest = hashlib.sha256(file.read(offset))
    may_be_infinite = re.split(r"[ ._]", what.removesuffix(".npy"))[-1] in INFINITE
    while chunk := file.read(CHUNK):
        digest.update(chunk)
        whole = len(chunk) // dtype.itemsize * dtype.itemsize
        if dtype.kind == "f":
            _check_finite(np.frombuffer(chunk[:whole], dtype), may_be_infinite, what)
    return digest.hexdigest()


def _check_finite(values: NDArray[Any], may_be_infinite: bool, what: str) -> None:
    if may_be_infinite:
        if np.isnan(values).any():
            raise DamagedArtifactError(f"{what} holds values that are not numbers (NaN)")
    elif not np.isfinite(values).all():
        raise DamagedArtifactError(f"{what} holds values that are not finite (NaN or infinite)")


def _changed(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)


def _mapped(
    file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...], order: Any, offset: int
) -> NDArray[Any]:
    if not prod(shape):  # nothing to map
        empty: NDArray[Any] = np.empty(shape, dtype)
        empty.flags.writeable = False
        return empty
    mapped = np.memmap(file, dtype, "r", offset, shape, order)
    return mapped.view(np.ndarray)
