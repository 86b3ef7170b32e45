"""KeptDocuments: the documents of an evaluation, read in blocks from the arrays on disk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.pairs import FP, Pairs
from app.metrics.counting.true_ranks import NEVER, TrueRanks

KINDS = 4
"""A pair is kept as column · KINDS + kind."""
Integers = NDArray[np.int64]


class Place(NamedTuple):
    """Where a document stands in the test set."""

    id: str | None
    line: int


@dataclass(frozen=True, slots=True)
class KeptBlock:
    """Some documents in file order, counted from 0."""

    n_documents: int
    pairs: Pairs
    rank: Integers
    """Of the true pairs; 0: never found."""
    at_least: Integers

    def counted(self, n_columns: int) -> "KeptBlock":
        """The same without the labels beyond so many columns, which are zero-shot ones."""
        is_counted = self.pairs.column < n_columns
        if is_counted.all():
            return self
        true = is_counted[self.pairs.kind != FP]
        pairs = self.pairs.take(is_counted)
        return KeptBlock(self.n_documents, pairs, self.rank[true], self.at_least[true])

    def true_ranks(self, n_columns: int, inverse: NDArray[np.float64] | None) -> TrueRanks:
        """The ranks of the true labels, each document's by rising rank."""
        true = self.pairs.take(self.pairs.kind != FP)
        rank = np.where(self.rank == 0, NEVER, self.rank)
        order = np.lexsort((true.column, rank, true.document))
        relevant = np.bincount(true.document, minlength=self.n_documents)
        columns = (true.column[order], rank[order], self.at_least[order])
        return TrueRanks(relevant, *columns, n_columns, inverse)


class KeptDocuments:
    """Pairs and ranks of all documents; memory holds a block of them."""

    def __init__(self, files: Mapping[str, ArrayFile]) -> None:
        self._files = files

    def __len__(self) -> int:
        return self._files["line"].length

    def blocks(self, size: int) -> Iterator[KeptBlock]:
        """`size` documents at a time, with all their labels."""
        start = true_start = 0
        for counts in self._files["pair_count"].blocks(size):
            coded = self._integers("pair", start, int(counts.sum()))
            document = np.repeat(np.arange(len(counts)), counts)
            pairs = Pairs(document, coded // KINDS, (coded % KINDS).astype(np.uint8))
            n_true = int((pairs.kind != FP).sum())
            ranks = (self._integers(name, true_start, n_true) for name in ("rank", "at_least"))
            yield KeptBlock(len(counts), pairs, *ranks)
            start, true_start = start + len(coded), true_start + n_true

    def places(self, numbers: list[int]) -> list[Place]:
        """Where these documents stand; they are counted from 0."""
        lengths = self._integers("id_length", 0, len(self)).tolist()
        starts = [0, *accumulate(max(length, 0) for length in lengths)]
        return [
            Place(
                self._id(starts[number], lengths[number]),
                int(self._integers("line", number, 1)[0]),
            )
            for number in numbers
        ]

    def _id(self, start: int, length: int) -> str | None:
        if length < 0:
            return None
        return self._files["id_bytes"].read(start, length).tobytes().decode()

    def _integers(self, name: str, start: int, count: int) -> Integers:
        return self._files[name].read(start, count).astype(np.int64)
