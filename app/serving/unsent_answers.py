"""Answers that are not sent yet: in pieces, counted, and bounded in their sum."""

from collections import deque
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from app.errors import OverloadedError

PIECE_BYTES = 131_072
"""Of an answer, written to its connection in one turn of the event loop."""
SMALL_ANSWER = 65_536
"""Bytes up to which an answer is never refused: a connection's buffer takes them anyway."""

Pieces = deque[bytes]


class UnsentAnswers:
    """Counts bytes of answers from when they are made until they are sent, for one process.

    An answer larger than all that is allowed is let through when nothing else is unsent, so that
    everything the limits allow can be answered at some time. Used from the event loop alone.
    """

    __slots__ = ("_most", "size")

    def __init__(self, most: int) -> None:
        self._most, self.size = most, 0

    def take(self, size: int) -> "UnsentAnswer":
        """Count an answer while the block runs, or raise OverloadedError where there is no room."""
        if size > SMALL_ANSWER and self.size and self.size + size > self._most:
            raise _overloaded()
        return UnsentAnswer(self, size)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for anything that is large."""
        return self.size >= self._most

    def refuse_if_full(self) -> None:
        """Raise OverloadedError before work is done whose answer could not be kept."""
        if self.is_full:
            raise _overloaded()


class UnsentAnswer:
    """Bytes that are counted until they are given back, at the latest when the block ends."""

    __slots__ = ("_all", "_size")

    def __init__(self, everything: UnsentAnswers, size: int = 0) -> None:
        self._all, self._size = everything, 0
        self.add(size)

    def __enter__(self) -> "UnsentAnswer":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def add(self, size: int) -> None:
        """Count so many more; where they are part of an answer that has begun, whatever the sum."""
        self._size += size
        self._all.size += size

    def sent(self, size: int) -> None:
        """So many are no longer kept."""
        self.add(-size)

    def close(self) -> None:
        """None of them is kept any more."""
        self.add(-self._size)


def _overloaded() -> OverloadedError:
    return OverloadedError("too many large answers wait to be read by their clients")


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
