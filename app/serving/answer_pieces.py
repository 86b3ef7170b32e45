"""Answers in pieces: what is written to a connection in one turn of the event loop."""

from collections import deque
from collections.abc import Iterable
from functools import partial
from pathlib import Path

PIECE_BYTES = 131_072
"""Well below a millisecond's work to send."""

Pieces = deque[bytes]


def cut(content: bytes) -> Pieces:
    """The content in pieces."""
    starts = range(0, len(content), PIECE_BYTES)
    return deque(content[start : start + PIECE_BYTES] for start in starts)


def joined(parts: Iterable[bytes]) -> Pieces:
    """Parts of any size, small ones put together."""
    pieces, held, size = Pieces(), list[bytes](), 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            pieces.append(b"".join(held))
            held, size = [], 0
    pieces.append(b"".join(held))
    return pieces


def of_file(path: Path) -> Pieces:
    """The content of a file, in pieces."""
    with path.open("rb") as file:
        return deque(iter(partial(file.read, PIECE_BYTES), b""))
