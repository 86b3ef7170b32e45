"""StoredTexts: texts that an engine keeps in groups, each of them one array."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from app.resources import texts
from app.resources.texts import CompressedTexts, LargeTexts, TextRows, packed_chunk

GROUP = 8 << 20
"""Characters of a group: what a worker's task takes."""


class PackedTexts(CompressedTexts):
    """The texts of one group, on its array: how long its chunks are, then the chunks."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        super().__init__()
        n_chunks = int(array[:8].view(np.int64)[0])
        sizes = array[8 : 8 + 16 * n_chunks].view(np.int64).reshape(-1, 2)
        for n_texts in sizes[:, 0].tolist():
            self.add_chunk(n_texts)
        self._ends = (8 + 16 * n_chunks + np.cumsum([0, *sizes[:, 1]])).tolist()
        self._array = array

    @property
    def n_bytes(self) -> int:
        """Of all texts in UTF-8, as their chunks say."""
        sizes = map(zstandard.frame_content_size, map(self.chunk, range(len(self._ends) - 1)))
        return sum(sizes) - 8 * (len(self) + len(self._ends) - 1)

    def chunk(self, number: int) -> bytes:
        """A chunk from the array."""
        return self._array[self._ends[number] : self._ends[number + 1]].tobytes()


class TextGroup(NamedTuple):
    """Texts in one array of an engine, and which of them are meant; None: all."""

    name: Any
    n_texts: int
    rows: NDArray[np.int64] | None = None


class StoredTexts(LargeTexts):
    """Texts in groups; `opened` gives the array of a group by its name."""

    def __init__(
        self, groups: Sequence[TextGroup], opened: Callable[[Any], NDArray[np.uint8]]
    ) -> None:
        self.groups, self._opened = groups, opened
        self._ends = list(accumulate(group.n_texts for group in groups))
        self._last: tuple[int, PackedTexts] | None = None

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self.groups)):
            yield from self._group(number)

    def at(self, row: int) -> str:
        """The text of a row."""
        number = bisect_right(self._ends, row)
        return self._group(number)[row - self._ends[number] + self.groups[number].n_texts]

    def groups_at(self, rows: NDArray[np.int64]) -> list[TextGroup]:
        """The groups of some rows, which rise, without those of no row."""
        cuts = np.searchsorted(rows, [0, *self._ends])
        groups = []
        for group, end, start, stop in zip(
            self.groups, self._ends, cuts[:-1], cuts[1:], strict=True
        ):
            own = rows[start:stop] - (end - group.n_texts)
            groups += [TextGroup(group.name, len(own), own)] if len(own) else []
        return groups

    def _group(self, number: int) -> PackedTexts:
        """A group; the last one that was asked for is remembered."""
        last = self._last
        if last is None or last[0] != number:
            last = number, PackedTexts(self._opened(self.groups[number].name))
            self._last = last  # at once, since threads may read as well
        return last[1]


def stored_groups(documents: Any) -> list[TextGroup] | None:
    """The groups of texts that an engine keeps, in their order; None for other texts."""
    if isinstance(documents, StoredTexts):
        return list(documents.groups)
    if isinstance(documents, TextRows) and isinstance(documents.texts, StoredTexts):
        rises = bool(np.all(np.diff(documents.rows) > 0))
        return documents.texts.groups_at(documents.rows) if rises else None
    return None


def packed_group(group: Sequence[str]) -> NDArray[np.uint8]:
    """The array of a group: the number of chunks, each one's texts and bytes, the chunks."""
    ends = np.cumsum([len(text) for text in group])
    cuts = np.searchsorted(ends, np.arange(texts.CHUNK, ends[-1], texts.CHUNK)) + 1
    bounds = np.unique([0, *cuts, len(group)]).tolist()
    chunks = [packed_chunk(group[start:end]) for start, end in pairwise(bounds)]
    sizes = np.stack([np.diff(bounds), list(map(len, chunks))], axis=1)
    head = np.append(len(chunks), sizes.ravel()).astype(np.int64)
    return np.frombuffer(head.tobytes() + b"".join(chunks), np.uint8)
