"""Averaged perceptrons of sixteen labels at once, in numpy."""

from typing import Any

import numpy as np


def averaged_perceptrons(rows: Any, signs: Any, order: Any, weights: Any) -> None:
    """Write the mean over all steps of the weights (features, 16) of sixteen perceptrons.

    A step takes the document `order` names next; where the product of its sign (documents, 16:
    1, -1, or 0 for an unused lane) and its score is not positive, its row times the sign is added.
    `rows` is CSR: (starts, columns, values). `weights` starts at 0.
    """
    starts, columns, values = rows
    delayed = np.zeros(weights.shape, np.float64)
    for step, document in enumerate(order):
        span = slice(starts[document], starts[document + 1])
        own, row = columns[span], values[span, None]
        sign = signs[document].astype(np.float32)
        wrong = np.where(sign * (weights[own] * row).sum(axis=0) <= 0, sign, np.float32(0))
        if wrong.any():
            weights[own] += row * wrong
            delayed[own] += np.float64(step) * row * wrong
    weights -= (delayed / max(len(order), 1)).astype(np.float32)


def warm() -> None:
    """There is nothing to compile."""
