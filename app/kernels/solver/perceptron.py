"""Averaged perceptrons of sixteen labels at once, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import kernel
from app.kernels.intrinsics import LANES, add, load, multiply, splat, store


@kernel
def averaged_perceptrons(rows: Any, signs: Any, order: Any, weights: Any) -> None:
    """Write the mean over all steps of the weights (features, 16) of sixteen perceptrons.

    A step takes the document `order` names next; where the product of its sign (documents, 16:
    1, -1, or 0 for an unused lane) and its score is not positive, its row times the sign is added.
    `rows` is CSR: (starts, columns, values). `weights` starts at 0.
    """
    starts, columns, values = rows
    delayed = np.zeros(weights.shape, np.float64)
    flat, scores = weights.reshape(-1), np.zeros(LANES, np.float32)
    steps = np.zeros(LANES, np.float32)
    for step in range(len(order)):
        document = order[step]
        total = splat(np.float32(0))
        for at in range(starts[document], starts[document + 1]):
            line = load(flat, np.intp(columns[at]) * LANES)
            total = add(total, multiply(splat(values[at]), line))
        store(scores, 0, total)
        wrong = 0
        for lane in range(LANES):
            sign = np.float32(signs[document, lane])
            is_wrong = sign * scores[lane] <= 0
            steps[lane] = sign if is_wrong else np.float32(0)
            wrong += is_wrong and sign != 0
        if wrong == 0:
            continue
        for at in range(starts[document], starts[document + 1]):
            value, column = values[at], columns[at]
            for lane in range(LANES):
                weights[column, lane] += value * steps[lane]
                delayed[column, lane] += np.float64(step) * value * steps[lane]
    # A change at step s counts in the steps after it: (n − s) / n of it is in the mean.
    for feature in range(weights.shape[0]):
        for lane in range(LANES):
            mean = weights[feature, lane] - delayed[feature, lane] / max(len(order), 1)
            weights[feature, lane] = np.float32(mean)


def warm() -> None:
    """Compile everything here."""
    one, zero = np.ones(1, np.float32), np.zeros(1, np.int32)
    rows = (read_only(np.array([0, 1])), read_only(zero), read_only(one))
    signs, weights = np.zeros((1, LANES), np.int8), np.zeros((1, LANES), np.float32)
    averaged_perceptrons(rows, signs, zero, weights)
