"""What is kept of every document on disk: counts, and the ranks of its true labels.

Figures that need the number of zero-shot labels (known only at the end), groups of documents and
bootstrap samples are computed from these, without a second look at the scores.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.tally import Integers, Tally
from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.cells import Cells
from app.metrics.counting.true_ranks import TrueRanks

Records = NDArray[Any]
COUNTS = ("tp", "fp", "fn")
RECORD = np.dtype([(name, "i4") for name in (*COUNTS, "relevant", "length", "dropped")])
RANK = np.dtype([("column", "i4"), ("at_least", "i4"), ("rank", "i8")])


class RecordBlock(NamedTuple):
    """Some documents in file order."""

    records: Records
    ranked: TrueRanks
    cells: Cells
    """One contingency table a document."""


class DocumentRecords:
    """A record of `RECORD` a document, and one of `RANK` for each of its true labels."""

    def __init__(self, folder: Path) -> None:
        self._records = ArrayFile(folder / "records", RECORD)
        self._ranks = ArrayFile(folder / "ranks", RANK)

    def __len__(self) -> int:
        return self._records.length

    def append(self, records: Records, ranked: TrueRanks) -> None:
        """Add a chunk."""
        ranks = np.empty(len(ranked.rank), RANK)
        ranks["column"], ranks["rank"] = ranked.column, ranked.rank
        ranks["at_least"] = ranked.at_least
        self._records.append(records)
        self._ranks.append(ranks)

    def tally(self) -> Tally:
        """All records and ranks."""
        return {
            "records": self._records.read(0, self._records.length),
            "ranks": self._ranks.read(0, self._ranks.length),
        }

    def merge(self, tally: Tally, columns: Integers) -> None:
        """Add further documents; `columns` are the places of their columns here."""
        records, ranks = tally["records"], tally["ranks"].copy()
        ranks["column"] = columns[ranks["column"]]
        document = np.repeat(np.arange(len(records)), records["relevant"])
        order = np.lexsort((ranks["column"], ranks["rank"], document))
        self._records.append(records)
        self._ranks.append(ranks[order])

    def records(self, size: int) -> Iterator[Records]:
        """The records alone, `size` documents at a time."""
        return self._records.blocks(size)

    def blocks(
        self, size: int, n_columns: int, inverse: NDArray[np.float64] | None
    ) -> Iterator[RecordBlock]:
        """All documents, `size` at a time, now that the number of columns is known."""
        start = 0
        for records in self.records(size):
            relevant = records["relevant"].astype(np.int64)
            ranks = self._ranks.read(start, int(relevant.sum()))
            start += len(ranks)
            column, rank, at_least = (
                ranks[name].astype(np.int64) for name in ("column", "rank", "at_least")
            )
            ranked = TrueRanks(relevant, column, rank, at_least, n_columns, inverse)
            yield RecordBlock(records, ranked, document_cells(records, n_columns))

    def close(self) -> None:
        """Close both files."""
        self._records.close()
        self._ranks.close()


def document_cells(records: Records, n_columns: int) -> Cells:
    """One contingency table a document."""
    tp, fp, fn = (records[name].astype(np.int64) for name in COUNTS)
    return Cells(tp, fp, fn, n_columns - tp - fp - fn)
