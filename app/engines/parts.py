"""Part files: what a task gave, as arrays end to end and the hash of them all.

A part is written whole or not at all, and its hash begins with its name: half a file, a changed
one and another task's are all found out.
"""

import io
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.folders import whole_file
from app.engine import Task, TaskArrays

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

DIGEST_BYTES = 32


def part_path(folder: Path, handle: str, task: Task) -> Path:
    """Where a task's part is kept.

    >>> part_path(Path("parts"), "00ff", (3, 4)).name
    '00ff-3-4.part'
    """
    return folder / f"{'-'.join([handle, *map(str, task)])}.part"


def write_part(path: Path, arrays: TaskArrays) -> None:
    """Write a part through to the disk."""
    digest = _begun_digest(path)
    with whole_file(path) as file:
        for piece in chain.from_iterable(map(array_pieces, arrays)):
            file.write(piece)
            digest.update(piece)
        file.write(digest.digest())


def read_part(path: Path) -> TaskArrays | None:
    """The arrays of a part; None where it is not there, or not right."""
    body = _body(path)
    return None if body is None else tuple(_arrays(body))


def _body(path: Path) -> memoryview | None:
    """What stands before the digest, if it has that digest."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    view, digest = memoryview(content), _begun_digest(path)
    digest.update(view[:-DIGEST_BYTES])
    return view[:-DIGEST_BYTES] if view[-DIGEST_BYTES:] == digest.digest() else None


def _begun_digest(path: Path) -> "Hash":
    return sha256(path.name.encode() + b"\0")


def array_pieces(array: NDArray[Any]) -> Iterator[Any]:
    """What a .npy file of the array holds: its header, then its values.

    numpy itself does not say that a disk is full.
    """
    values = np.ascontiguousarray(array)
    header = io.BytesIO()
    fields = np.lib.format.header_data_from_array_1_0(values)
    np.lib.format.write_array_header_1_0(header, fields)
    yield header.getvalue()
    yield values.reshape(-1).view(np.uint8).data if values.size else b""


def _arrays(body: memoryview) -> Iterator[NDArray[Any]]:
    file = io.BytesIO(body)
    while file.tell() < len(body):
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        yield array
