"""Sparse rows and groups of them, compiled: what k-means and sorting by feature need."""

from typing import Any

import numpy as np

from app.kernels.compiler import kernel
from app.kernels.simd import LANES, add, load, multiply, prefetch, splat, store
from app.kernels.text.types import fixed

AHEAD = 8
"""So many values before its own a line is asked for."""


@kernel
def add_rows(rows: Any, groups: Any, sums: Any) -> None:
    """Add every row (starts, columns, values) to its group's column of sums (features, groups)."""
    starts, columns, values = rows
    for row in range(len(starts) - 1):
        group = groups[row]
        for at in range(starts[row], starts[row + 1]):
            sums[columns[at], group] += values[at]


@kernel
def multiply_rows(rows: Any, lines: Any, products: Any) -> None:
    """Fill in the products of rows (starts, columns, values) and lines (features, 16 · n)."""
    starts, columns, values = rows
    width, lines, products = lines.shape[1], lines.reshape(-1), products.reshape(-1)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        for first in range(0, width, LANES):
            total = splat(np.float32(0))
            for at in range(begin, end):
                prefetch(lines, np.intp(columns[min(at + AHEAD, end - 1)]) * width + first)
                line = load(lines, np.intp(columns[at]) * width + first)
                total = add(total, multiply(splat(values[at]), line))
            store(products, row * width + first, total)


@kernel
def order_by(keys: Any, n_keys: Any) -> Any:
    """The places of the keys, which are below `n_keys`, by rising key, then by rising place."""
    starts, order = np.zeros(n_keys + 1, np.int64), np.empty(len(keys), np.int64)
    for key in keys:
        starts[key + 1] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    for place in range(len(keys)):
        key = keys[place]
        order[starts[key]] = place
        starts[key] += 1
    return order


def warm() -> None:
    """Compile everything here."""
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int32)
    rows = (fixed(np.array([0, 1])), fixed(zero), fixed(one))
    add_rows(rows, np.zeros(1, np.int64), np.zeros((1, 1), np.float32))
    line = np.zeros((1, LANES), np.float32)
    multiply_rows(rows, fixed(line), line)
    order_by(zero, 1)
