"""Gather and score: features times weights stored by feature, plus a bias, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import kernel
from app.kernels.text.types import fixed


@kernel
def sparse_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Fill in the scores of rows (starts, columns, values) by weights (starts, labels, values)."""
    starts, columns, values = rows
    weight_starts, labels, weight_values = weights
    for row in range(len(starts) - 1):
        line = scores[row]
        line[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, column = values[at], columns[at]
            for place in range(weight_starts[column], weight_starts[column + 1]):
                line[labels[place]] += value * weight_values[place]
        line += bias


@kernel
def quantized_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Fill in the scores of rows (starts, columns, values) by quantized weights."""
    starts, columns, values = rows
    weight_starts, gaps, codes, levels = weights
    for row in range(len(starts) - 1):
        line = scores[row]
        line[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, column, label = values[at], columns[at], np.int64(0)
            for place in range(weight_starts[column], weight_starts[column + 1]):
                label += gaps[place]
                line[label] += value * levels[codes[place]]
        line += bias


@kernel
def dense_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Fill in the scores of rows (starts, columns, values) by weights (features, labels)."""
    starts, columns, values = rows
    for row in range(len(starts) - 1):
        line = scores[row]
        line[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, weight = values[at], weights[columns[at]]
            for label in range(len(bias)):
                line[label] += value * weight[label]
        line += bias


def warm() -> None:
    """Compile everything here, for both widths of label numbers."""
    one, starts = np.ones(1, np.float32), np.array([0, 1], np.int64)
    rows, scores = (fixed(starts), fixed(np.zeros(1, np.int32)), fixed(one)), one[None].copy()
    for kind in (np.uint16, np.int32):
        weights = (fixed(starts), fixed(np.zeros(1, kind)), fixed(one))
        sparse_scores(rows, weights, fixed(one), scores)
    nothing = np.zeros(1, np.uint8)
    quantized = (fixed(starts), fixed(nothing), fixed(nothing), fixed(one))
    quantized_scores(rows, quantized, fixed(one), scores)
    dense_scores(rows, fixed(one[None]), fixed(one), scores)
