"""Texts of a large data set, compressed in a temporary file: memory does not grow with them."""

import os
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import zstandard
from numpy.typing import NDArray

IN_MEMORY = 1 << 24
"""Characters up to which texts stay a list: a small data set needs no file."""
CHUNK = 1 << 20
"""Characters that are compressed together; one chunk is in memory while texts are read."""
LEVEL = 1


def kept_texts(texts: Iterator[str], folder: Path | None = None) -> Sequence[str]:
    """All texts: in a list, or from a certain size on in a file that has no name in the folder."""
    listed: list[str] = []
    n_characters = 0
    for text in texts:
        listed.append(text)
        n_characters += len(text)
        if n_characters > IN_MEMORY:
            return _spooled(listed, texts, folder)
    return listed


def _spooled(listed: list[str], more: Iterator[str], folder: Path | None) -> "TextFile":
    file = TextFile(folder)
    while listed:
        for text in listed[:1024]:
            file.add(text)
        del listed[:1024]
    for text in more:
        file.add(text)
    file.end()
    return file


def texts_at(texts: Sequence[str], rows: Sequence[int]) -> Sequence[str]:
    """The texts at these places: of a file a view, else a list."""
    if isinstance(texts, TextFile):
        return TextRows(texts, np.asarray(rows, np.int64))
    if isinstance(texts, TextRows):
        return TextRows(texts.file, texts.rows[np.asarray(rows, np.int64)])
    return [texts[row] for row in rows]


class TextFile(Sequence[str]):
    """Texts in the order they were added, to be read any number of times."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # which removes it, since it has no name
        self._firsts: list[int] = []
        self._places: list[tuple[int, int]] = []
        self._waiting: list[bytes] = []
        self._n_waiting = self._length = self._end = 0
        self._last: tuple[int, list[str]] = (-1, [])

    def add(self, text: str) -> None:
        """Take one more text."""
        self._waiting.append(text.encode(errors="surrogatepass"))
        self._n_waiting += len(text)
        if self._n_waiting >= CHUNK:
            self.end()

    def end(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        lengths = np.array([len(self._waiting), *map(len, self._waiting)], np.int64)
        data = zstandard.compress(lengths.tobytes() + b"".join(self._waiting), LEVEL)
        self._file.write(data)
        self._firsts.append(self._length)
        self._places.append((self._end, len(data)))
        self._end += len(data)
        self._length += len(self._waiting)
        self._waiting, self._n_waiting = [], 0
        self._file.flush()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        row = range(len(self))[place]
        chunk = bisect_right(self._firsts, row) - 1
        return self._texts(chunk)[row - self._firsts[chunk]]

    def __iter__(self) -> Iterator[str]:
        for chunk in range(len(self._firsts)):
            yield from self._texts(chunk)

    def _texts(self, chunk: int) -> list[str]:
        """The texts of one chunk; the last one that was asked for is remembered."""
        known, texts = self._last
        if known != chunk:
            start, size = self._places[chunk]
            texts = _unpacked(zstandard.decompress(os.pread(self._file.fileno(), size, start)))
            self._last = chunk, texts  # at once, since threads may read as well
        return texts


class TextRows(Sequence[str]):
    """Some of the texts of a file; fast in rising order."""

    def __init__(self, file: TextFile, rows: NDArray[np.int64]) -> None:
        self.file, self.rows = file, rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.file[int(row)] for row in self.rows[place]]
        return self.file[int(self.rows[place])]


def _unpacked(data: bytes) -> list[str]:
    count = int(np.frombuffer(data, np.int64, 1)[0])
    lengths = np.frombuffer(data, np.int64, count, 8)
    ends: Any = np.cumsum(lengths) + 8 * (count + 1)
    starts = ends - lengths
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return [data[start:end].decode(errors="surrogatepass") for start, end in pairs]
