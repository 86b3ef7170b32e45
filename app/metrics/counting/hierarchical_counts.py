"""Right, wrong and missed labels where every set of labels is extended by its ancestors.

Hierarchical precision and recall (Kiritchenko et al. 2005). The extended sets are never made, so a
long chain of ancestors costs no more than a short one: in depth-first order of the forest, labels
share with their neighbour just the ancestors that the lowest common one and those above it are.
"""

import numpy as np
from numpy.typing import NDArray

from app.metrics.base import Figures, measures
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.pairs import FN, FP, Pairs

Integers = NDArray[np.int64]
MEASURES = ("precision", "recall", "f1")
OUTSIDE = -1
"""The node of a label that the forest does not have: it has no ancestors."""


class HierarchicalCounts:
    """Counts over some documents; memory does not grow with them."""

    def __init__(self, parents: NDArray[np.int32], depths: NDArray[np.int32]) -> None:
        self._forest = DepthFirstForest(parents, depths)
        self.tp = self.fp = self.fn = 0

    def add(self, pairs: Pairs, nodes: Integers) -> None:
        """Add the pairs of further documents; `nodes` are the columns' places in the forest."""
        node = nodes[pairs.column]
        self.fn += int((node == OUTSIDE).sum())  # zero-shot labels: true, never assigned
        is_inside = node != OUTSIDE
        pairs, node = pairs.take(is_inside), node[is_inside]
        decided, true = pairs.kind != FN, pairs.kind != FP
        n_decided = self._forest.extended_size(pairs.document[decided], node[decided])
        n_true = self._forest.extended_size(pairs.document[true], node[true])
        n_either = self._forest.extended_size(pairs.document, node)
        self.tp += n_decided + n_true - n_either
        self.fp += n_either - n_true
        self.fn += n_either - n_decided

    def figures(self, averaging: Averaging) -> Figures:
        """Precision, recall and F1 of the sums; None where 0/0 is skipped."""
        cells = Cells(*(np.array([count]) for count in (self.tp, self.fp, self.fn, 0)))
        values = {name: float(measures()[name].values(cells, averaging)[0]) for name in MEASURES}
        return {name: None if np.isnan(value) else value for name, value in values.items()}


class DepthFirstForest:
    """The nodes of a forest in depth-first order, with what common ancestors need."""

    def __init__(self, parents: NDArray[np.int32], depths: NDArray[np.int32]) -> None:
        self._places = depth_first_places(parents, depths)
        in_order = np.empty_like(depths)
        in_order[self._places] = depths
        self._minima = [in_order]
        """[k][i]: the least depth of the 2^k nodes from place i on."""
        while 2 * (width := 1 << (len(self._minima) - 1)) <= len(depths):
            last = self._minima[-1]
            self._minima.append(np.minimum(last[:-width], last[width:]))

    def extended_size(self, documents: Integers, nodes: Integers) -> int:
        """Labels of all documents' sets together, each set with all its ancestors."""
        n = max(len(self._places), 1)
        document, place = np.divmod(np.unique(documents * n + self._places[nodes]), n)
        is_next = document[1:] == document[:-1]
        alone = int((self._minima[0][place].astype(np.int64) + 1).sum())
        return alone - self._shared(place[:-1][is_next], place[1:][is_next])

    def _shared(self, left: Integers, right: Integers) -> int:
        """Common ancestors of pairs of places, themselves included, added up.

        Behind the left place, down to the right one, the least depth is that of a child of the
        lowest common ancestor, or of a root where there is none: so many are shared.
        """
        level = np.log2(np.maximum(right - left, 1)).astype(np.int64)
        total = 0
        for k in np.unique(level).tolist():
            own = level == k
            minima, width = self._minima[k], 1 << k
            least = np.minimum(minima[left[own] + 1], minima[right[own] - width + 1])
            total += int(least.sum(dtype=np.int64))
        return total


def depth_first_places(parents: NDArray[np.int32], depths: NDArray[np.int32]) -> Integers:
    """The place of every node in depth-first order: a parent first, each subtree together.

    >>> depth_first_places(np.int32([-1, 2, 0, 0, -1]), np.int32([0, 2, 1, 1, 0])).tolist()
    [0, 2, 1, 3, 4]
    """
    above, by_depth = parents.tolist(), np.argsort(depths, kind="stable").tolist()
    sizes = [1] * len(above) + [0]  # the last is the place above all roots: index -1
    for node in reversed(by_depth):
        sizes[above[node]] += sizes[node]
    places, free = [0] * len(above), [0] * (len(above) + 1)
    for node in by_depth:
        places[node] = free[above[node]]
        free[above[node]] += sizes[node]
        free[node] = places[node] + 1
    return np.array(places, np.int64)
