"""Sums, products and a sort of CSR rows for k-means and for sorting by feature, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import kernel
from app.kernels.intrinsics import LANES, add, load, multiply, prefetch, splat, store

AHEAD = 8
"""Prefetch distance in values: far enough that a line of `dense` arrives before its turn."""


@kernel
def sum_by_group(rows: Any, groups: Any, sums: Any) -> None:
    """Add every CSR row (starts, columns, values) to its group's column of (features, groups)."""
    starts, columns, values = rows
    for row in range(len(starts) - 1):
        group = groups[row]
        for at in range(starts[row], starts[row + 1]):
            sums[columns[at], group] += values[at]


@kernel
def multiply_rows(rows: Any, dense: Any, products: Any) -> None:
    """Write the products of CSR rows (starts, columns, values) and a matrix (features, 16 · n)."""
    starts, columns, values = rows
    width, weights, products = dense.shape[1], dense.reshape(-1), products.reshape(-1)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        for first in range(0, width, LANES):
            total = splat(np.float32(0))
            for at in range(begin, end):
                prefetch(weights, np.intp(columns[min(at + AHEAD, end - 1)]) * width + first)
                line = load(weights, np.intp(columns[at]) * width + first)
                total = add(total, multiply(splat(values[at]), line))
            store(products, row * width + first, total)


@kernel
def stable_order(keys: Any, n_keys: Any) -> Any:
    """The indices of the keys (below `n_keys`) by rising key, equal keys in their old order.

    A counting sort: its time is linear in the number of keys.
    """
    starts, order = np.zeros(n_keys + 1, np.int64), np.empty(len(keys), np.int64)
    for key in keys:
        starts[key + 1] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    for i in range(len(keys)):
        key = keys[i]
        order[starts[key]] = i
        starts[key] += 1  # where the next equal key goes: their order is kept
    return order


def warm() -> None:
    """Compile everything here."""
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int32)
    rows = (read_only(np.array([0, 1])), read_only(zero), read_only(one))
    sum_by_group(rows, np.zeros(1, np.int64), np.zeros((1, 1), np.float32))
    line = np.zeros((1, LANES), np.float32)
    multiply_rows(rows, read_only(line), line)
    stable_order(zero, 1)
