"""Sparse rows and groups of them, in numpy and scipy: see app/kernels/tree/row_groups.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def add_rows(rows: Any, groups: Any, sums: Any) -> None:
    """Add every row (starts, columns, values) to its group's column of sums (features, groups)."""
    starts, columns, values = rows
    span = slice(starts[0], starts[-1])
    np.add.at(sums, (columns[span], np.repeat(groups, np.diff(starts))), values[span])


def multiply_rows(rows: Any, lines: Any, products: Any) -> None:
    """Fill in the products of rows (starts, columns, values) and lines (features, 16 · n)."""
    starts, columns, values = rows
    products[:] = csr_array((values, columns, starts), (len(starts) - 1, len(lines))) @ lines


def order_by(keys: Any, n_keys: int) -> NDArray[np.int64]:
    """The places of the keys, which are below `n_keys`, by rising key, then by rising place."""
    return np.argsort(keys, kind="stable")


def warm() -> None:
    """There is nothing to compile."""
