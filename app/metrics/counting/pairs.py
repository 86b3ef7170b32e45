"""Pairs of a chunk of documents: which decisions were right, wrong, and missed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Truth
from app.metrics.counting.cells import Cells

Integers = NDArray[np.int64]
TP, FP, FN = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every pair that was decided or true, by document, then by column."""

    document: Integers
    column: Integers
    kind: NDArray[np.uint8]
    """TP, FP or FN."""

    @classmethod
    def of(cls, marks: Marks, truth: Truth) -> "Pairs":
        """Compare decisions with the truth, which may have more columns (zero-shot labels)."""
        width = max(marks.shape[1], truth.shape[1], 1)
        row, column = np.divmod(np.flatnonzero(marks), max(marks.shape[1], 1))
        decided = row * width + column
        rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
        true = rows * width + truth.indices
        key = np.union1d(decided, true).astype(np.int64)
        kind = np.full(len(key), FN, np.uint8)
        kind[np.searchsorted(key, decided)] = FP
        at = np.searchsorted(key, true)
        kind[at[kind[at] == FP]] = TP
        document, column = np.divmod(key, width)
        return cls(document, column, kind)

    def take(self, which: NDArray[np.bool_]) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.document[which], self.column[which], self.kind[which])

    def cells(self, n_documents: int, n_columns: int) -> Cells:
        """One contingency table a document, over that many labels."""
        tp, fp, fn = (
            np.bincount(self.document[self.kind == kind], minlength=n_documents)
            for kind in (TP, FP, FN)
        )
        return Cells(tp, fp, fn, n_columns - tp - fp - fn)
