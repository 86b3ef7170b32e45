"""Scores of a CSR feature matrix: features · weights + bias, weights by feature, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import kernel


@kernel
def sparse_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by weights of the same form: (starts, labels, values)."""
    starts, columns, values = rows
    weight_starts, labels, weight_values = weights
    for row in range(len(starts) - 1):
        row_scores = scores[row]
        row_scores[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, column = values[at], columns[at]
            for entry in range(weight_starts[column], weight_starts[column + 1]):
                row_scores[labels[entry]] += value * weight_values[entry]
        row_scores += bias


@kernel
def quantized_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by quantized weights (starts, gaps, codes, levels)."""
    starts, columns, values = rows
    weight_starts, gaps, codes, levels = weights
    for row in range(len(starts) - 1):
        row_scores = scores[row]
        row_scores[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, column, label = values[at], columns[at], np.int64(0)
            for entry in range(weight_starts[column], weight_starts[column + 1]):
                label += gaps[entry]
                row_scores[label] += value * levels[codes[entry]]
        row_scores += bias


@kernel
def dense_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by a dense matrix of weights (features, labels)."""
    starts, columns, values = rows
    for row in range(len(starts) - 1):
        row_scores = scores[row]
        row_scores[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            value, weight = values[at], weights[columns[at]]
            for label in range(len(bias)):
                row_scores[label] += value * weight[label]
        row_scores += bias


def warm() -> None:
    """Compile everything here, for both widths of label numbers."""
    one, starts = np.ones(1, np.float32), np.array([0, 1], np.int64)
    rows, scores = (
        (read_only(starts), read_only(np.zeros(1, np.int32)), read_only(one)),
        one[None].copy(),
    )
    for kind in (np.uint16, np.int32):
        weights = (read_only(starts), read_only(np.zeros(1, kind)), read_only(one))
        sparse_scores(rows, weights, read_only(one), scores)
    nothing = np.zeros(1, np.uint8)
    quantized = (read_only(starts), read_only(nothing), read_only(nothing), read_only(one))
    quantized_scores(rows, quantized, read_only(one), scores)
    dense_scores(rows, read_only(one[None]), read_only(one), scores)
