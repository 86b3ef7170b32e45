"""Counts: how often each term stands in each document, in CSR form."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Counts(NamedTuple):
    """Row i has `columns[indptr[i]:indptr[i + 1]]`, rising, and as many `counts`."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int32]


def kept(counts: Counts, keep: NDArray[np.bool_]) -> Counts:
    """The same counts without the columns that are not kept; the others are renumbered."""
    renumbered = np.cumsum(keep, dtype=np.int32) - 1
    stays = keep[counts.columns]
    before = np.concatenate(([0], np.cumsum(stays, dtype=np.int64)))
    columns = renumbered[counts.columns[stays]].astype(np.int32)
    return Counts(before[counts.indptr], columns, counts.counts[stays])
