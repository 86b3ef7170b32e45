"""Names for the arrays that travel through the tree, and their shape checks."""

from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Scores: TypeAlias = NDArray[np.float32]
"""(documents, labels); float64 where a file gives them. -inf is no score: neither ranked nor
decided."""

Marks: TypeAlias = NDArray[np.bool_]
"""(documents, labels), dense: the decisions for one chunk of documents."""

Features: TypeAlias = Any
"""csr_array (documents, features), float32. For networks: (documents, positions) of int32 token
ids, so that slicing and stacking rows work alike; ids start at 1, so no zero is ever stored."""

Truth: TypeAlias = Any
"""csr_array (documents, labels) of bool with sorted indices: the true labels."""


def truth_from_rows(rows: Iterable[Iterable[int]], n_labels: int) -> Truth:
    """Label columns per document as a Truth; repeated columns count once.

    Rows are packed as they come: lists of Python numbers would take more than most features do.

    >>> truth_from_rows([[2, 0, 2], []], 3).toarray().astype(int).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    packed, ends = array("i"), array("q", [0])
    for row in rows:
        packed.extend(sorted(set(row)))
        ends.append(len(packed))
    columns, offsets = np.frombuffer(packed, np.int32), np.frombuffer(ends, np.int64)
    data = np.ones(len(columns), dtype=np.bool_)
    return csr_array((data, columns, offsets), shape=(len(offsets) - 1, n_labels))


ENTRIES = 1 << 18
"""Stored entries of a matrix that are worked on at once where temporary arrays are needed."""


class RowChunk(NamedTuple):
    """Some neighbouring rows of a sparse matrix."""

    rows: slice
    entries: slice
    """Where their entries are stored."""
    sizes: NDArray[Any]
    """How many entries each row has."""

    def row_of(self) -> NDArray[np.int64]:
        """The row of each entry, counted from the first row of the chunk."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def row_chunks(indptr: NDArray[Any], n_entries: int = ENTRIES) -> Iterator[RowChunk]:
    """All rows in their order, so many together that they have about `n_entries` entries.

    >>> [chunk.rows for chunk in row_chunks(np.array([0, 2, 3, 9]), 3)]
    [slice(0, 2, None), slice(2, 3, None)]
    """
    first, n_rows = 0, len(indptr) - 1
    while first < n_rows:
        fitting = int(np.searchsorted(indptr, indptr[first] + n_entries, side="right")) - 1
        end = min(max(fitting, first + 1), n_rows)
        entries = slice(int(indptr[first]), int(indptr[end]))
        yield RowChunk(slice(first, end), entries, np.diff(indptr[first : end + 1]))
        first = end


COUNTED = 1 << 22
"""Numbers that are counted at once: `bincount` makes 64-bit copies of them."""


def occurrences(numbers: NDArray[Any], n: int) -> NDArray[np.int64]:
    """How often each number below n is there; no array as long as `numbers` is made.

    >>> occurrences(np.array([2, 0, 2], np.int32), 3).tolist()
    [1, 0, 2]
    """
    total = np.zeros(n, np.int64)
    for start in range(0, len(numbers), COUNTED):
        total += np.bincount(numbers[start : start + COUNTED], minlength=n)
    return total
