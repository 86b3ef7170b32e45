"""The block solver's problem and solution: documents, sixteen labels' marks and costs, weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LANES = 16
SQUARED_HINGE, HINGE, LOGISTIC = 0, 1, 2
GAP_SHARES = (np.float32(2e-3), np.float32(1.5e-2), np.float32(1e-4))
"""The share of the objective that the duality gap may have at a tolerance of 1, by loss: at the
same tolerance, no loss ends further from its optimum than LIBLINEAR does."""
MOST_PASSES = 1000
MOST_SKIPS = 7
"""Passes that leave out a document whose dual variables do not change (shrinking)."""
NEGLIGIBLE_CHANGE = np.float32(1e-6)
"""A dual variable that moves by less than this share of the cost has not changed."""
SMALLEST_CHANGE = np.float32(1e-20)
NEWTON_STEPS = 5
UNTOUCHED = np.float32(-1e30)
"""The logit that stands for a dual variable of 0."""
NO_LABEL = np.float32(1e-30)
"""The cost of a lane without a label: its weights stay too small to be seen."""


class SolverRows(NamedTuple):
    """Documents in CSR form, only with features that two or more documents have.

    The weight of a feature that one document alone has (a singleton) follows from that document's
    dual variable: it adds dual · value² to the document's own margin, and nothing to any other. So
    these features need no weights while training; `singleton_norms` are their sums of squares.
    `norms` are the squared lengths of the whole rows, with the bias feature.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    singleton_norms: NDArray[np.float32]
    norms: NDArray[np.float32]
    bias: np.float32


class FeatureScales(NamedTuple):
    """A factor on each feature for each of sixteen labels, or nothing: every array is empty.

    Where label l sees r · x in place of x, its weights on x are r² times the sum of dual · x. So
    `squares` (features · 16) are all that a step needs of r, and `norms` and `singleton_norms`
    (documents · 16) take the place of those in `SolverRows`. `singleton_squares` (2 · 16) are the
    squares for a feature of one negative document, then for one of a positive document.
    """

    squares: NDArray[np.float32]
    singleton_squares: NDArray[np.float32]
    singleton_norms: NDArray[np.float32]
    norms: NDArray[np.float32]


class LabelBlock(NamedTuple):
    """Up to sixteen labels: costs by label, and for each document a bit per label in `marks`."""

    marks: NDArray[np.uint16]
    n_labels: int
    positive_costs: NDArray[np.float32]
    negative_costs: NDArray[np.float32]
    loss: int
    scales: FeatureScales


class Solution(NamedTuple):
    """Weights (features · 16), bias weights (16) and dual variables (documents · 16), 1-D each.

    For the logistic loss the dual variables are kept as logits of their share of the cost.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    duals: NDArray[np.float32]

    def copy(self) -> "Solution":
        """An equal solution in arrays of its own."""
        copies = (aligned_lanes(len(array) // LANES) for array in self)
        copied = Solution(*copies)
        for target, source in zip(copied, self, strict=True):
            target[:] = source
        return copied


def aligned_lanes(n_groups: int) -> NDArray[np.float32]:
    """Zeros for so many groups of sixteen lanes, each aligned to one cache line."""
    raw = np.zeros((n_groups + 1) * LANES, np.float32)
    skip = (-raw.ctypes.data // raw.itemsize) % LANES
    return raw[skip : skip + n_groups * LANES]


def unsolved(n_features: int, n_documents: int, loss: int) -> Solution:
    """The solution that training starts from: all weights 0."""
    duals = aligned_lanes(n_documents)
    if loss == LOGISTIC:
        duals[:] = UNTOUCHED
    return Solution(aligned_lanes(n_features), aligned_lanes(1), duals)


def block_of(
    marks: NDArray[np.uint16], positive: NDArray[Any], negative: NDArray[Any], loss: int
) -> LabelBlock:
    """The block of as many labels as there are costs, with every feature as it is."""
    costs = []
    for given in (positive, negative):
        padded = aligned_lanes(1)
        padded[:] = NO_LABEL
        padded[: len(given)] = given
        costs.append(padded)
    unscaled = FeatureScales(*(aligned_lanes(0) for _ in FeatureScales._fields))
    return LabelBlock(marks, len(positive), costs[0], costs[1], loss, unscaled)
