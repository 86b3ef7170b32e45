"""Scores of decision trees that ask whether a feature is present, in numpy."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array


def tree_leaves(rows: Any, trees: Any, is_present: Any, leaves: Any) -> None:
    """Write the leaf that each CSR row reaches in each tree: (rows, trees).

    `trees` is (roots, columns, absent, present): a node goes on to one of two others, by whether
    the row has its column; -1 as column is a leaf. `is_present` is a work array with a False for
    every feature, and is so again afterwards.
    """
    (starts, columns), (roots, asked, absent, present) = rows, trees
    span = slice(starts[0], starts[-1])
    ones = np.ones(starts[-1] - starts[0], np.bool_)
    shape = (len(starts) - 1, len(is_present))
    present_in = csr_array((ones, columns[span], starts - starts[0]), shape=shape).toarray()
    leaves[:] = roots
    row = np.arange(len(leaves))[:, None]
    while (asked[leaves] >= 0).any():
        column = asked[leaves]
        onward = np.where(present_in[row, column], present[leaves], absent[leaves])
        leaves[:] = np.where(column >= 0, onward, leaves)


def warm() -> None:
    """There is nothing to compile."""
