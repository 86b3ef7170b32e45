"""A text's weights accumulated to its labels' scores, compiled.

Bit equality: each score is the sum of value · weight in the order of the text's columns, first over
the hot features, then over the others, without fused multiply-add.
"""

from typing import Any

import numpy as np

from app.kernels.compiler import inner
from app.kernels.intrinsics import LANES, add, load, multiply, prefetch, splat, store

TILE = 4 * LANES
"""Labels whose sums stay in registers while all rows are read: four chains of additions overlap."""


@inner
def accumulate_dense(weights: Any, columns: Any, values: Any, rows: Any, scores: Any) -> None:
    """Write the sums of value · weight over some features; `rows` is scratch."""
    for i in range(len(columns)):
        rows[i] = columns[i]
    add_rows(weights.dense, rows[: len(columns)], values, scores)


@inner
def accumulate_sparse(weights: Any, columns: Any, values: Any, hot: Any, scores: Any) -> None:
    """Write the sums of value · weight over some features: the hot ones, then the others.

    `hot` (rows, values) is scratch; the features that are not hot move to the front of `columns`
    and `values`. Their weights are prefetched before the hot rows are added, and arrive meanwhile.
    """
    hot_rows, hot_values = hot
    n_hot, n_others = 0, 0
    for column in columns:
        prefetch(weights.starts, column)
    for i in range(len(columns)):
        column = columns[i]
        begin, end = weights.starts[column], weights.starts[column + 1]
        if end - begin > weights.hot_limit:
            hot_rows[n_hot], hot_values[n_hot] = weights.hot_rows[column], values[i]
            n_hot += 1
        else:
            columns[n_others], values[n_others] = column, values[i]
            n_others += 1
            prefetch_weights(weights, begin, end)
    add_rows(weights.hot_weights, hot_rows[:n_hot], hot_values, scores)
    for i in range(n_others):
        begin, end = weights.starts[columns[i]], weights.starts[columns[i] + 1]
        if len(weights.levels):
            scatter_quantized(weights, begin, end, values[i], scores)
        elif len(weights.narrow):
            scatter(weights.narrow[begin:end], weights.values[begin:end], values[i], scores)
        else:
            scatter(weights.wide[begin:end], weights.values[begin:end], values[i], scores)


@inner
def prefetch_weights(weights: Any, begin: Any, end: Any) -> None:
    """Prefetch a feature's weights, once a cache line: 64 bytes, or 16 float32."""
    if len(weights.levels):
        for at in range(begin, end, 4 * LANES):
            prefetch(weights.gaps, at)
            prefetch(weights.codes, at)
        return
    for at in range(begin, end, LANES):
        prefetch(weights.values, at)
        prefetch(weights.narrow, at)


@inner
def add_rows(matrix: Any, rows: Any, values: Any, scores: Any) -> None:
    """Write the sums of values[i] · matrix[rows[i]] to `scores`.

    Labels by tiles, then by lanes, then one by one: the order of a label's additions is the same.
    """
    n_labels = len(scores)
    weights, label, n_wide = matrix.reshape(-1), 0, n_labels - n_labels % LANES
    while label + TILE <= n_labels:
        first, second = splat(np.float32(0)), splat(np.float32(0))
        third, fourth = splat(np.float32(0)), splat(np.float32(0))
        for i in range(len(rows)):
            at, value = rows[i] * n_labels + label, splat(values[i])
            first = add(first, multiply(load(weights, at), value))
            second = add(second, multiply(load(weights, at + LANES), value))
            third = add(third, multiply(load(weights, at + 2 * LANES), value))
            fourth = add(fourth, multiply(load(weights, at + 3 * LANES), value))
        store(scores, label, first)
        store(scores, label + LANES, second)
        store(scores, label + 2 * LANES, third)
        store(scores, label + 3 * LANES, fourth)
        label += TILE
    for start in range(label, n_wide, LANES):
        total = splat(np.float32(0))
        for i in range(len(rows)):
            at = rows[i] * n_labels + start
            total = add(total, multiply(load(weights, at), splat(values[i])))
        store(scores, start, total)
    scores[n_wide:] = 0.0
    for i in range(len(rows)):
        for last in range(n_wide, n_labels):
            scores[last] += values[i] * weights[rows[i] * n_labels + last]


@inner
def scatter(labels: Any, weights: Any, value: Any, scores: Any) -> None:
    """Add value · weight to the score of each weight's label."""
    for i in range(len(labels)):
        scores[labels[i]] += value * weights[i]


@inner
def scatter_quantized(weights: Any, begin: Any, end: Any, value: Any, scores: Any) -> None:
    """Add value · level to the score of each entry's label, which is the sum of gaps up to it."""
    label = np.int64(0)
    for at in range(begin, end):
        label += weights.gaps[at]
        scores[label] += value * weights.levels[weights.codes[at]]
