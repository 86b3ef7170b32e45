"""LeadColumns: the first words of a text counted again, as columns behind those of all terms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import read_only
from app.kernels.text.types import Leads


@dataclass(frozen=True, eq=False)
class LeadColumns:
    """For each number of first words, and each term, the column of the term there; −1: none.

    The columns follow those of the vocabulary, lead after lead, in the order of the terms. Equal
    only to itself, so that it can be part of a key.
    """

    lengths: tuple[int, ...]
    columns: NDArray[np.int32]
    """(leads, terms)."""

    @classmethod
    def of(cls, lengths: Sequence[int], has_column: NDArray[np.bool_]) -> "LeadColumns":
        """Columns for the marked (leads, terms)."""
        flat = has_column.ravel()
        numbers = has_column.shape[1] + np.cumsum(flat, dtype=np.int64) - 1
        columns = np.where(flat, numbers, -1).astype(np.int32)
        return cls(tuple(lengths), columns.reshape(has_column.shape))

    @property
    def has_column(self) -> NDArray[np.bool_]:
        """(leads, terms): whether the term has a column there."""
        return self.columns >= 0

    @property
    def terms(self) -> NDArray[np.intp]:
        """The number of the term that each column stands for."""
        return np.nonzero(self.columns >= 0)[1]

    def by_length(self) -> list[tuple[int, NDArray[np.int32]]]:
        """Each number of first words, with the column of each term there."""
        return list(zip(self.lengths, self.columns, strict=True))

    def kept(self, keep: NDArray[np.bool_]) -> "LeadColumns":
        """The leads after only the marked ones of all columns, the vocabulary's first, are kept.

        A column is kept only together with that of its term.
        """
        n_terms = self.columns.shape[1]
        has_column = self.has_column
        has_column[has_column] = keep[n_terms:]
        return LeadColumns.of(self.lengths, has_column[:, keep[:n_terms]])

    def arrays(self) -> Leads:
        """The arrays that kernels read."""
        lengths = np.array(self.lengths, np.int64)
        return Leads(read_only(lengths), read_only(self.columns.ravel()))


NO_LEADS = LeadColumns((), np.zeros((0, 0), np.int32))
