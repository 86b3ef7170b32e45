"""Texts of a large data set, compressed in files: memory does not grow with them."""

import os
import tempfile
import weakref
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
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


class LargeTexts(Sequence[str]):
    """Texts that are somewhere else than in memory; reading them in their order is fast."""

    @abstractmethod
    def at(self, row: int) -> str:
        """The text of a row, from 0."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.at(row) for row in range(*place.indices(len(self)))]
        return self.at(range(len(self))[place])


class CompressedTexts(LargeTexts):
    """Texts in chunks, which are decompressed when one of theirs is asked for."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        """The row of each chunk's first text."""
        self._length = 0
        self._last: tuple[int, list[str]] = (-1, [])

    @abstractmethod
    def chunk(self, number: int) -> bytes:
        """A chunk as `packed_chunk` gave it."""

    def add_chunk(self, n_texts: int) -> None:
        """Take one more chunk behind the others."""
        self._firsts.append(self._length)
        self._length += n_texts

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self._firsts)):
            yield from self._texts(number)

    def at(self, row: int) -> str:
        """The text of a row."""
        number = bisect_right(self._firsts, row) - 1
        return self._texts(number)[row - self._firsts[number]]

    def _texts(self, number: int) -> list[str]:
        """The texts of one chunk; the last one that was asked for is remembered."""
        known, texts = self._last
        if known != number:
            texts = unpacked_chunk(self.chunk(number))
            self._last = number, texts  # at once, since threads may read as well
        return texts


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
    """The texts at these places: of texts in files a view, else a list."""
    if isinstance(texts, TextRows):
        return TextRows(texts.texts, texts.rows[np.asarray(rows, np.int64)])
    if isinstance(texts, LargeTexts):
        return TextRows(texts, np.asarray(rows, np.int64))
    return [texts[row] for row in rows]


class TextRows(LargeTexts):
    """Some of the texts of files; fast in rising order."""

    def __init__(self, texts: LargeTexts, rows: NDArray[np.int64]) -> None:
        self.texts, self.rows = texts, rows

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, row: int) -> str:
        """The text of a row."""
        return self.texts[int(self.rows[row])]


class TextFile(CompressedTexts):
    """Texts in the order they were added, to be read any number of times."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # which removes it, since it has no name
        self._places: list[tuple[int, int]] = []
        self._waiting: list[str] = []
        self._n_waiting = self._end = 0

    def add(self, text: str) -> None:
        """Take one more text."""
        self._waiting.append(text)
        self._n_waiting += len(text)
        if self._n_waiting >= CHUNK:
            self.end()

    def end(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        data = packed_chunk(self._waiting)
        self._file.write(data)
        self._places.append((self._end, len(data)))
        self._end += len(data)
        self.add_chunk(len(self._waiting))
        self._waiting, self._n_waiting = [], 0
        self._file.flush()

    def chunk(self, number: int) -> bytes:
        """A chunk from the file."""
        start, size = self._places[number]
        return os.pread(self._file.fileno(), size, start)


def packed_chunk(texts: Iterable[str]) -> bytes:
    """Texts compressed together; half a surrogate pair is kept as it is."""
    pieces = [text.encode(errors="surrogatepass") for text in texts]
    lengths = np.array([len(pieces), *map(len, pieces)], np.int64)
    return zstandard.compress(lengths.tobytes() + b"".join(pieces), LEVEL)


def unpacked_chunk(packed: bytes) -> list[str]:
    """The texts of `packed_chunk`."""
    data = zstandard.decompress(packed)
    count = int(np.frombuffer(data, np.int64, 1)[0])
    lengths = np.frombuffer(data, np.int64, count, 8)
    ends: Any = np.cumsum(lengths) + 8 * (count + 1)
    starts = ends - lengths
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return [data[start:end].decode(errors="surrogatepass") for start, end in pairs]
