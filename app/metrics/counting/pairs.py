"""Pairs of a chunk of documents: which decisions were right, wrong, and missed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Truth

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

    def columns(self, kind: int, documents: NDArray[np.bool_] | None = None) -> Integers:
        """The columns of all pairs of a kind, of some documents or all."""
        chosen = self.kind == kind
        if documents is not None:
            chosen = chosen & documents[self.document]
        return np.asarray(self.column[chosen])

    def counts(self, kind: int, n_documents: int) -> Integers:
        """How many pairs of a kind each document has."""
        return np.asarray(np.bincount(self.document[self.kind == kind], minlength=n_documents))
