"""Scores of a CSR feature matrix: features · weights + bias, weights by feature, in scipy."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from app.kernels.linear.quantized_weights import QuantizedWeights


def sparse_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by weights of the same form: (starts, labels, values)."""
    starts, labels, values = weights
    matrix = csr_array(
        (values, labels.astype(np.int32), starts), shape=(len(starts) - 1, len(bias))
    )
    scores[:] = (_matrix(rows, len(starts) - 1) @ matrix).toarray() + bias


def quantized_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by quantized weights (starts, gaps, codes, levels)."""
    packed = QuantizedWeights(*weights)
    sparse_scores(rows, (packed.starts, packed.labels(), packed.values()), bias, scores)


def dense_scores(rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    """Write the scores of CSR rows by a dense matrix of weights (features, labels)."""
    scores[:] = _matrix(rows, weights.shape[0]) @ weights + bias


def warm() -> None:
    """There is nothing to compile."""


def _matrix(rows: Any, width: int) -> csr_array:
    starts, columns, values = rows
    span = slice(starts[0], starts[-1])
    parts = (values[span], columns[span], starts - starts[0])
    return csr_array(parts, shape=(len(starts) - 1, width))
