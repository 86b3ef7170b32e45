"""Scores of decision trees that ask whether a feature is present, compiled."""

from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import kernel


@kernel
def tree_leaves(rows: Any, trees: Any, is_present: Any, leaves: Any) -> None:
    """Write the leaf that each CSR row reaches in each tree: (rows, trees).

    `trees` is (roots, columns, absent, present): a node goes on to one of two others, by whether
    the row has its column; -1 as column is a leaf. `is_present` is a work array with a False for
    every feature, and is so again afterwards.
    """
    starts, columns = rows
    roots, asked, absent, present = trees
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            is_present[columns[at]] = True
        for tree in range(len(roots)):
            node = roots[tree]
            while asked[node] >= 0:
                node = present[node] if is_present[asked[node]] else absent[node]
            leaves[row, tree] = node
        for at in range(starts[row], starts[row + 1]):
            is_present[columns[at]] = False


def warm() -> None:
    """Compile everything here."""
    zero = read_only(np.zeros(1, np.int32))
    rows, leaf = (read_only(np.array([0, 1])), zero), read_only(np.full(1, -1, np.int32))
    tree_leaves(rows, (zero, leaf, zero, zero), np.zeros(1, np.bool_), np.zeros((1, 1), np.int32))
