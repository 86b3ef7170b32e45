"""CountedDocuments: an evaluation's documents with the labels that count, ready to be summed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.evaluation.kept.documents import KeptBlock, KeptDocuments
from app.metrics.counting.cells import Cells
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import Pairs

Values = NDArray[np.float64]
BLOCK = 4096


@dataclass(frozen=True)
class CountedDocuments:
    """The documents, how they are measured, and how many columns are counted."""

    documents: KeptDocuments
    values: DocumentValues
    n_columns: int
    inverse: Values | None = None

    def __len__(self) -> int:
        return len(self.documents)

    def blocks(self, size: int) -> Iterator[KeptBlock]:
        """`size` documents at a time, without labels that do not count."""
        return (block.counted(self.n_columns) for block in self.documents.blocks(size))

    def matrix(self, block: KeptBlock) -> Values:
        """The rows of `DocumentValues.matrix`."""
        cells = block.pairs.cells(block.n_documents, self.n_columns)
        return self.values.matrix(block.true_ranks(self.n_columns, self.inverse), cells)

    def pairs(self) -> Iterator[Pairs]:
        """The pairs of a block of documents at a time, which are numbered over all blocks."""
        start = 0
        for block in self.blocks(BLOCK):
            pairs = block.pairs
            yield Pairs(start + pairs.document, pairs.column, pairs.kind)
            start += block.n_documents

    def label_cells(self) -> Cells:
        """A contingency table a column."""
        counts = LabelCounts(self.n_columns)
        for block in self.blocks(BLOCK):
            counts.add(block.n_documents, block.pairs)
        return counts.cells(self.n_columns)
