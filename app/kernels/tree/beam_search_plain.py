"""Beam search down a label tree, in numpy: the definition of beam_search.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.tree.types import CHILD, CUBED_HINGE, SQUARED_HINGE, STEEPNESS, LabelTree


def search(rows: Any, tree: LabelTree, beam: int, link: int, share: Any, scores: Any) -> None:
    """Add the path likelihoods of the labels that each document's beam reaches to `scores`."""
    starts, columns, values = rows
    for row in range(len(starts) - 1):
        span = slice(starts[row], starts[row + 1])
        best = [(0, np.float32(0))]
        while best:
            reached: list[tuple[int, np.float32]] = []
            for node, path in best:
                children = slice(tree.child_starts[node], tree.child_starts[node + 1])
                totals = path + _link_values(
                    _margins(tree, node, columns[span], values[span]), link
                )
                targets = tree.targets[children]
                labels = targets[targets >= 0]
                scores[row, labels] = np.logaddexp(
                    scores[row, labels], share + totals[targets >= 0]
                )
                inner = (-targets[targets < 0] - 1).tolist()
                reached += zip(inner, totals[targets < 0], strict=True)
            best = sorted(reached, key=lambda pair: -pair[1])[:beam]


def warm() -> None:
    """There is nothing to compile."""


def _margins(tree: LabelTree, node: int, columns: Any, values: Any) -> NDArray[np.float32]:
    margins = tree.biases[tree.child_starts[node] : tree.child_starts[node + 1]].copy()
    for column, value in zip(columns, values, strict=True):
        first, end = tree.feature_starts[column], tree.feature_starts[column + 1]
        row = first + np.searchsorted(tree.row_nodes[first:end], node)
        if row < end and tree.row_nodes[row] == node:
            entries = slice(tree.entry_starts[row], tree.entry_starts[row + 1])
            weights = tree.entries[entries].view(np.float32)
            margins[tree.entries[entries] & CHILD] += value * weights
    return margins


def _link_values(margins: NDArray[np.float32], link: int) -> NDArray[np.float32]:
    lack = np.maximum(1 - margins, 0)
    if link == SQUARED_HINGE:
        return -(lack**2)
    if link == CUBED_HINGE:
        return -(lack**3)
    return np.asarray(-np.logaddexp(0, -STEEPNESS * margins), np.float32)
