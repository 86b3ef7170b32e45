"""A text's weights added up to its labels' scores, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner
from app.kernels.simd import LANES, add, load, multiply, prefetch, splat, store

TILE = 4 * LANES
"""So many labels' sums stay in registers while all rows go by."""


@inner
def add_dense(linear: Any, columns: Any, values: Any, places: Any, scores: Any) -> None:
    """Fill in the sums of the rows of some features."""
    for i in range(len(columns)):
        places[i] = columns[i]
    add_rows(linear.dense, places[: len(columns)], values, scores)


@inner
def add_sparse(linear: Any, columns: Any, values: Any, room: Any, scores: Any) -> None:
    """Fill in the sums of the weights of some features: of those with dense rows, then the rest.

    The others' weights are asked for before the dense rows are added, and are there in time; they
    are moved to the front of `columns` and `values`.
    """
    places, shares = room
    n_dense, n_others = 0, 0
    for column in columns:
        prefetch(linear.starts, column)
    for i in range(len(columns)):
        column = columns[i]
        begin, end = linear.starts[column], linear.starts[column + 1]
        if end - begin > linear.limit:
            places[n_dense], shares[n_dense] = linear.hot_rows[column], values[i]
            n_dense += 1
        else:
            columns[n_others], values[n_others] = column, values[i]
            n_others += 1
            ask_for(linear, begin, end)
    add_rows(linear.hot, places[:n_dense], shares, scores)
    for i in range(n_others):
        begin, end = linear.starts[columns[i]], linear.starts[columns[i] + 1]
        if len(linear.levels):
            scatter_quantized(linear, begin, end, values[i], scores)
        elif len(linear.narrow):
            scatter(linear.narrow[begin:end], linear.values[begin:end], values[i], scores)
        else:
            scatter(linear.wide[begin:end], linear.values[begin:end], values[i], scores)


@inner
def ask_for(linear: Any, begin: Any, end: Any) -> None:
    """Ask for the cache lines of a feature's weights."""
    if len(linear.levels):
        for at in range(begin, end, 4 * LANES):
            prefetch(linear.gaps, at)
            prefetch(linear.codes, at)
        return
    for at in range(begin, end, LANES):
        prefetch(linear.values, at)
        prefetch(linear.narrow, at)


@inner
def add_rows(rows: Any, places: Any, values: Any, scores: Any) -> None:
    """Fill in the sums of the rows at `places`, each so many times."""
    n_labels = len(scores)
    weights, label, n_wide = rows.reshape(-1), 0, n_labels - n_labels % LANES
    while label + TILE <= n_labels:
        first, second = splat(np.float32(0)), splat(np.float32(0))
        third, fourth = splat(np.float32(0)), splat(np.float32(0))
        for i in range(len(places)):
            at, value = places[i] * n_labels + label, splat(values[i])
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
        for i in range(len(places)):
            at = places[i] * n_labels + start
            total = add(total, multiply(load(weights, at), splat(values[i])))
        store(scores, start, total)
    scores[n_wide:] = 0.0
    for i in range(len(places)):
        for last in range(n_wide, n_labels):
            scores[last] += values[i] * weights[places[i] * n_labels + last]


@inner
def scatter(labels: Any, weights: Any, value: Any, scores: Any) -> None:
    """Add each weight, so many times, to its label's score."""
    for i in range(len(labels)):
        scores[labels[i]] += value * weights[i]


@inner
def scatter_quantized(linear: Any, begin: Any, end: Any, value: Any, scores: Any) -> None:
    """Add each weight of one feature, so many times, to its label's score."""
    label = np.int64(0)
    for at in range(begin, end):
        label += linear.gaps[at]
        scores[label] += value * linear.levels[linear.codes[at]]
