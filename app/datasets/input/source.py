"""Source: a file, standard input or a given stream as decompressed, counted and hashed bytes."""

import hashlib
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from app.datasets.input.compression import inflated
from app.datasets.input.limits import Limits as Limits
from app.datasets.layout import TableLayout
from app.errors import AppError, InvalidDataError, PayloadTooLargeError


class Source:
    """Bytes to read once, decompressed; knows their name, number and SHA-256.

    None stands for several files, which are absorbed one after another. A stream is closed only
    where it `is_owned`.
    """

    def __init__(
        self,
        origin: str | Path | BinaryIO | None,
        limits: Limits,
        *,
        name: str = "",
        is_owned: bool = False,
    ) -> None:
        self.limits = limits
        self.name = name or _name(origin)
        self.path = Path(origin) if isinstance(origin, str | Path) and origin != "-" else None
        self._is_owned = is_owned or self.path is not None
        self.bytes = 0
        self.layout = TableLayout()
        self.absorbed: list[str] = []
        """The hashes of the files that it is made of."""
        self._hash = hashlib.sha256()
        self._stream = None if origin is None or self.is_folder else _opened(origin)
        self._chunks = self._counted()
        self.head = self._first()

    @property
    def is_folder(self) -> bool:
        """Whether this is a directory: it has no bytes of its own."""
        return self.path is not None and self.path.is_dir()

    @property
    def sha256(self) -> str:
        """Of all decompressed bytes handed out so far."""
        return self._hash.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """All bytes from the start, in pieces of about a mebibyte."""
        return chain((self.head,) if self.head else (), self._chunks)

    def absorb(self, name: str, part: "Source") -> None:
        """Count a file of this folder, or a part: its bytes, and its name and hash."""
        self._hash.update(f"{name}\0{part.sha256}\n".encode(errors="surrogateescape"))
        self.absorbed.append(part.sha256)
        self._add(part.bytes)

    def close(self) -> None:
        """Close what was opened here; a stream that was given stays open."""
        if self._stream is not None and self._is_owned:
            self._stream.close()

    def _first(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except AppError as error:
            self.close()
            if not isinstance(error, InvalidDataError):
                raise
            raise InvalidDataError(error.problem, file=self.name, line=1) from error

    def _counted(self) -> Iterator[bytes]:
        if self._stream is None:
            return
        for piece in inflated(self._stream, self.name, self.limits):
            self._hash.update(piece)
            self._add(len(piece))
            yield piece

    def _add(self, count: int) -> None:
        self.bytes += count
        if self.limits.max_bytes is not None and self.bytes > self.limits.max_bytes:
            raise PayloadTooLargeError("the data set", self.limits.max_bytes, "bytes")


def _name(origin: str | Path | BinaryIO | None) -> str:
    if isinstance(origin, str | Path):
        return "standard input" if origin == "-" else str(origin)
    name = getattr(origin, "name", "")
    return name if isinstance(name, str) and name else "data"


def _opened(origin: str | Path | BinaryIO) -> BinaryIO:
    if origin == "-":
        return sys.stdin.buffer
    if not isinstance(origin, str | Path):
        return origin
    try:
        return Path(origin).open("rb")
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise InvalidDataError(f"cannot be opened: {problem}", file=origin) from error
