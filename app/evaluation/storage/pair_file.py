"""The decided and true pairs of all documents on disk, in document order."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.evaluation.storage.array_file import ArrayFile
from app.evaluation.storage.document_records import COUNTS, DocumentRecords
from app.metrics.counting.pairs import Pairs

KINDS = 4
"""A pair is kept as column · KINDS + kind."""


class PairFile:
    """Pairs without their documents, whose records say how many each has."""

    def __init__(self, path: Path) -> None:
        self._file = ArrayFile(path, np.int64)

    def append(self, pairs: Pairs) -> None:
        """Add a chunk's pairs; they are in document order."""
        self._file.append(pairs.column * KINDS + pairs.kind)

    def blocks(self, documents: DocumentRecords, size: int) -> Iterator[Pairs]:
        """The pairs of `size` documents at a time; documents are counted from 0 in each block."""
        start = 0
        for records in documents.records(size):
            counts = np.sum([records[name].astype(np.int64) for name in COUNTS], axis=0)
            coded = self._file.read(start, int(counts.sum()))
            start += len(coded)
            document = np.repeat(np.arange(len(records)), counts)
            yield Pairs(document, coded // KINDS, (coded % KINDS).astype(np.uint8))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
