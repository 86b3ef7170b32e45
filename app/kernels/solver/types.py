"""What the block solver works on: documents, sixteen labels' marks and costs, and a solution."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LANES = 16
SQUARED_HINGE, HINGE, LOGISTIC = 0, 1, 2
GAP_SHARES = (np.float32(2e-3), np.float32(1.5e-2), np.float32(1e-4))
"""Which share of the objective the gap may be for a tolerance of 1, loss by loss: chosen so that at
the same tolerance no loss ends further from its optimum than LIBLINEAR does."""
MOST_PASSES = 1000
LONGEST_REST = 7
STILL = np.float32(1e-6)
"""Changes below this share of the cost count as none."""
SMALLEST_CHANGE = np.float32(1e-20)
NEWTON_STEPS = 5
UNTOUCHED = np.float32(-1e30)
"""The logit of a dual variable that is still 0."""
NO_LABEL = np.float32(1e-30)
"""The cost of a lane without a label: its weights stay 0 for all that can be seen."""


class SolverRows(NamedTuple):
    """Documents as the solver reads them: only features that two or more documents have.

    A feature that one document alone has can only ever push that document's own score, so its
    part is known without its weight: `lonely`, the squares of those values. `norms` are the squared
    lengths of the whole rows with the bias feature.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    lonely: NDArray[np.float32]
    norms: NDArray[np.float32]
    bias: np.float32


class LabelBlock(NamedTuple):
    """Up to sixteen labels: a bit per label in `marks`, one number a document, and their costs."""

    marks: NDArray[np.uint16]
    n_labels: int
    positive_costs: NDArray[np.float32]
    negative_costs: NDArray[np.float32]
    loss: int


class Solution(NamedTuple):
    """Weights (features · 16), bias weights (16) and dual variables (documents · 16), flat.

    For the logistic loss the dual variables are kept as logits of their share of the cost.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    duals: NDArray[np.float32]

    def copy(self) -> "Solution":
        """An equal solution in arrays of its own."""
        copies = (lines(len(array) // LANES) for array in self)
        copied = Solution(*copies)
        for target, source in zip(copied, self, strict=True):
            target[:] = source
        return copied


def lines(n_lines: int) -> NDArray[np.float32]:
    """Zeros for so many groups of sixteen, each in one cache line."""
    raw = np.zeros((n_lines + 1) * LANES, np.float32)
    skip = (-raw.ctypes.data // raw.itemsize) % LANES
    return raw[skip : skip + n_lines * LANES]


def unsolved(n_features: int, n_documents: int, loss: int) -> Solution:
    """Where every training begins: all weights 0."""
    duals = lines(n_documents)
    if loss == LOGISTIC:
        duals[:] = UNTOUCHED
    return Solution(lines(n_features), lines(1), duals)


def block_of(
    marks: NDArray[np.uint16], positive: NDArray[Any], negative: NDArray[Any], loss: int
) -> LabelBlock:
    """The block of as many labels as there are costs."""
    costs = []
    for given in (positive, negative):
        padded = lines(1)
        padded[:] = NO_LABEL
        padded[: len(given)] = given
        costs.append(padded)
    return LabelBlock(marks, len(positive), costs[0], costs[1], loss)
