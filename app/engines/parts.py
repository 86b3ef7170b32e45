"""Part files: what a task gave, as arrays end to end and the hash of them all.

A part is written whole or not at all, and its hash begins with its name: half a file, a changed
one and another task's are all found out.
"""

import io
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.folders import write_file
from app.engine import Task, TaskArrays

DIGEST_BYTES = 32


def part_path(folder: Path, handle: str, task: Task) -> Path:
    """Where a task's part is kept.

    >>> part_path(Path("parts"), "00ff", (3, 4)).name
    '00ff-3-4.part'
    """
    return folder / f"{'-'.join([handle, *map(str, task)])}.part"


def write_part(path: Path, arrays: TaskArrays) -> None:
    """Write a part through to the disk."""
    body = io.BytesIO()
    for array in arrays:
        np.lib.format.write_array(body, array, version=(1, 0), allow_pickle=False)
    write_file(path, body.getvalue() + _digest(path, body.getvalue()))


def is_right(path: Path) -> bool:
    """Whether a part is there, and what was written under its name."""
    return _body(path) is not None


def read_part(path: Path) -> TaskArrays | None:
    """The arrays of a part; None where it is not there, or not right."""
    body = _body(path)
    return None if body is None else tuple(_arrays(body))


def _body(path: Path) -> bytes | None:
    """What stands before the digest, if it has that digest."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    body, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    return body if _digest(path, body) == digest else None


def _digest(path: Path, body: bytes) -> bytes:
    return sha256(path.name.encode() + b"\0" + body).digest()


def _arrays(body: bytes) -> Iterator[NDArray[Any]]:
    file = io.BytesIO(body)
    while file.tell() < len(body):
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        yield array
