"""Sums, products and a sort of CSR rows for k-means and for sorting by feature, in scipy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def sum_by_group(rows: Any, groups: Any, sums: Any) -> None:
    """Add every CSR row (starts, columns, values) to its group's column of (features, groups)."""
    starts, columns, values = rows
    span = slice(starts[0], starts[-1])
    np.add.at(sums, (columns[span], np.repeat(groups, np.diff(starts))), values[span])


def multiply_rows(rows: Any, dense: Any, products: Any) -> None:
    """Write the products of CSR rows (starts, columns, values) and a matrix (features, 16 · n)."""
    starts, columns, values = rows
    products[:] = csr_array((values, columns, starts), (len(starts) - 1, len(dense))) @ dense


def stable_order(keys: Any, n_keys: int) -> NDArray[np.int64]:
    """The indices of the keys (below `n_keys`) by rising key, equal keys in their old order."""
    return np.argsort(keys, kind="stable")


def warm() -> None:
    """There is nothing to compile."""
