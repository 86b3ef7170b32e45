"""A label tree as the beam search walks it, and what a margin is worth on a path."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SQUARED_HINGE, CUBED_HINGE, LOG_SIGMOID = 0, 1, 2
LINKS = {"squared-hinge": SQUARED_HINGE, "cubed-hinge": CUBED_HINGE, "log-sigmoid": LOG_SIGMOID}
STEEPNESS = 3.0
"""How fast the log-sigmoid falls: at a margin of −1 it is near the squared hinge there."""

CHILD = np.uint32(0xFFFF)
"""The bits of an entry that are a child's place."""


class LabelTree(NamedTuple):
    """Nodes with their children side by side, and the weights by feature, then by node.

    Node n has children `child_starts[n]` to `child_starts[n + 1]`: a target of 0 or more is a
    label, a lower one is node −target − 1. Feature f has rows `feature_starts[f]` to
    `feature_starts[f + 1]`, one for each of `row_nodes` in rising order; row r has entries
    `entry_starts[r]` to `entry_starts[r + 1]` (see `packed`). Node 0 is the root. A document has
    few features and asks each for many nodes, so the features' short lists of nodes stay in the
    cache.
    """

    child_starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    biases: NDArray[np.float32]
    feature_starts: NDArray[np.int64]
    row_nodes: NDArray[np.int32]
    entry_starts: NDArray[np.int64]
    entries: NDArray[np.uint32]


def packed(children: NDArray[Any], values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Entries of 32 bits: the bits of a float32 value, the last 16 of them a child's place.

    So a value keeps the 8 leading digits of its binary form, and is read as if nothing else were
    in it: a place among some hundred siblings is too small to matter.
    """
    rounded = values.astype(np.float32, copy=False).view(np.uint32) + (CHILD >> 1) & ~CHILD
    return rounded | children.astype(np.uint32)
