"""One array as one .npy file: written with its facts, mapped only after every fact was checked."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.artifacts.manifest import File
from app.errors import DamagedArtifactError

DTYPES = frozenset(
    np.dtype(kind).newbyteorder("<").str for kind in ("?", *"bhiqBHIQ", *"efd")
)  # plain numbers, little-endian; never objects
CHUNK = 1 << 22
PREFIX = 10  # magic, format version, header length
Order: TypeAlias = Literal["C", "F"]
INFINITE = ("cut", "cuts", "threshold", "thresholds")
"""An array may hold infinities only if the last word of its name is one of these."""


def write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    """Write the array to a new file, through to the disk; what the manifest must say about it."""
    values = np.asarray(array)
    values = np.asarray(values, values.dtype.newbyteorder("<"))
    if values.dtype.str not in DTYPES:
        raise ValueError(f"{path.name}: arrays hold plain numbers, not {values.dtype}")
    is_fortran = values.flags.f_contiguous and not values.flags.c_contiguous
    header = header_bytes(values.dtype.str, values.shape, is_fortran=is_fortran)
    with path.open("x+b") as file:
        file.write(header)
        # Not `tofile`: what it raises on a full disk does not say that the disk is full.
        ordered = np.ascontiguousarray(values.T if is_fortran else values)
        file.write(ordered.reshape(-1).view(np.uint8).data)
        return synced_facts(file, values.dtype, list(values.shape), path.name)


def synced_facts(
    file: IO[bytes], dtype: np.dtype[Any], shape: list[int], name: str
) -> dict[str, Any]:
    """What the manifest must say about an array file that is written, now through to the disk."""
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    offset = len(header_bytes(dtype.str, shape, is_fortran=False))
    digest = _digest(file, offset, dtype, name)
    return {"dtype": dtype.str, "shape": shape, "size": file.tell(), "sha256": digest}


def open_array(path: Path, expected: File, place: str) -> NDArray[Any]:
    """The array, memory-mapped read-only, if the file is to the byte what the manifest says."""
    with open_plain(path) as file:
        order, offset = checked_array(file, expected, f"{place}: {path.name}")
        return _mapped(file, expected, order, offset)


def checked_array(file: IO[bytes], expected: File, what: str) -> tuple[Order, int]:
    """The order of the values and where they start; every byte is what the manifest says."""
    before = os.fstat(file.fileno())
    check_plain(before, expected.size, what)
    order, offset = _checked_header(file, expected, what)
    if _digest(file, offset, np.dtype(expected.dtype), what) != expected.sha256:
        raise DamagedArtifactError(f"{what} was changed: its SHA-256 differs")
    if _changed(before, os.fstat(file.fileno())):
        raise DamagedArtifactError(f"{what} changed while it was read: a copy is under way")
    return order, offset


def header_bytes(dtype: str, shape: Sequence[int], *, is_fortran: bool) -> bytes:
    """The one .npy header (format 1.0) we write for such an array: compared whole, never parsed.

    >>> header_bytes("<f4", [2, 3], is_fortran=False)[10:68]
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
    """
    fields = f"{{'descr': {dtype!r}, 'fortran_order': {is_fortran}, 'shape': {tuple(shape)}, }}"
    length = -(-(PREFIX + len(fields) + 1) // 64) * 64 - PREFIX  # the values start at 64 bytes
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + f"{fields:{length - 1}}\n".encode()


def open_plain(path: Path) -> IO[bytes]:
    """The file, open for reading; a symbolic link is an error and a pipe does not block."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags), "rb")


def check_plain(found: os.stat_result, size: int, what: str) -> None:
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


def _checked_header(file: IO[bytes], expected: File, what: str) -> tuple[Order, int]:
    """The order of the values, and where they start."""
    if expected.dtype not in DTYPES:
        raise DamagedArtifactError(f"{what}: its manifest says another type than plain numbers")
    c, fortran = (
        header_bytes(expected.dtype, expected.shape, is_fortran=is_fortran)
        for is_fortran in (False, True)
    )
    found = file.read(len(c))
    file.seek(0)
    if found not in (c, fortran):
        raise DamagedArtifactError(f"{what} has a header that differs from its manifest")
    if len(c) + np.dtype(expected.dtype).itemsize * prod(expected.shape) != expected.size:
        raise DamagedArtifactError(f"{what} claims a shape that {expected.size} bytes cannot hold")
    return ("C" if found == c else "F"), len(c)


def _digest(file: IO[bytes], offset: int, dtype: np.dtype[Any], what: str) -> str:
    """SHA-256 of the file; on the way every float is checked, so the bytes are read once."""
    digest = hashlib.sha256(file.read(offset))
    may_be_infinite = re.split(r"[ ._]", what.removesuffix(".npy"))[-1] in INFINITE
    while chunk := file.read(CHUNK):
        digest.update(chunk)
        if dtype.kind == "f":
            values = np.frombuffer(chunk, dtype, len(chunk) // dtype.itemsize)
            _check_finite(values, may_be_infinite, what)
    return digest.hexdigest()


def _check_finite(values: NDArray[Any], may_be_infinite: bool, what: str) -> None:
    if may_be_infinite:
        if np.isnan(values).any():
            raise DamagedArtifactError(f"{what} holds values that are not numbers (NaN)")
    elif not np.isfinite(values).all():
        raise DamagedArtifactError(f"{what} holds values that are not finite (NaN or infinite)")


def _changed(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)


def _mapped(file: IO[bytes], expected: File, order: Order, offset: int) -> NDArray[Any]:
    dtype, shape = np.dtype(expected.dtype), tuple(expected.shape)
    if not prod(shape):  # nothing to map
        empty: NDArray[Any] = np.empty(shape, dtype)
        empty.flags.writeable = False
        return empty
    return np.memmap(file, dtype, "r", offset, shape, order).view(np.ndarray)
