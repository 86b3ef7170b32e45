"""A label tree as arrays for the beam search, and the links from margins to path scores."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SQUARED_HINGE, CUBED_HINGE, LOG_SIGMOID = 0, 1, 2
LINKS = {"squared-hinge": SQUARED_HINGE, "cubed-hinge": CUBED_HINGE, "log-sigmoid": LOG_SIGMOID}
STEEPNESS = 3.0
"""The slope of the log-sigmoid: at a margin of −1 it is near the squared hinge there."""

CHILD = np.uint32(0xFFFF)
"""The bits of an entry that are a child's index among its siblings."""


class LabelTree(NamedTuple):
    """Nodes with their children next to each other, and the weights by feature, then by node.

    Node n has children `child_starts[n]` to `child_starts[n + 1]`: a target of 0 or more is a
    label, a lower one is node −target − 1. Feature f has rows `feature_starts[f]` to
    `feature_starts[f + 1]`, one for each of `row_nodes` in rising order; row r has entries
    `entry_starts[r]` to `entry_starts[r + 1]` (see `packed`). Node 0 is the root. Rows are by
    feature first, since a document has few features and looks each up for many nodes: the short
    lists of nodes of its features stay in the cache.
    """

    child_starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    biases: NDArray[np.float32]
    feature_starts: NDArray[np.int64]
    row_nodes: NDArray[np.int32]
    entry_starts: NDArray[np.int64]
    entries: NDArray[np.uint32]


def packed(children: NDArray[Any], values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Entries of 32 bits: a float32 whose last 16 mantissa bits are replaced by a child's index.

    The value keeps 8 significant bits (bfloat16), and is read without masking the index out: an
    index among some hundred siblings is below the precision that is left.
    """
    # Half of the last kept bit is added, then the rest cut off: rounded to nearest.
    rounded = values.astype(np.float32, copy=False).view(np.uint32) + (CHILD >> 1) & ~CHILD
    return rounded | children.astype(np.uint32)
