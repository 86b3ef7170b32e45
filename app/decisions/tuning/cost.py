"""The cuts of the least cost: wrong · FP + missed · FN, each label's own.

A cost is linear in (FP, TP), so its minimum is a vertex of the label's upper convex hull.
"""

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Hulls
from app.metrics.costs import ErrorCosts


def cost_by_vertex(hulls: Hulls, costs: ErrorCosts) -> NDArray[np.float64]:
    """What its label's errors cost on the held-out data with the cut at every vertex."""
    label = hulls.label_of_vertex
    wrong, missed = (np.broadcast_to(cost, hulls.n_labels)[label] for cost in costs)
    return ErrorCosts(wrong, missed).of(hulls.fp, hulls.positives[label] - hulls.tp)


def cost_vertices(hulls: Hulls, costs: ErrorCosts) -> NDArray[np.int64]:
    """Each label's vertex of least cost; the highest cut among equals."""
    return hulls.highest(-cost_by_vertex(hulls, costs))


def least_cost(hulls: Hulls, costs: ErrorCosts) -> float:
    """The least that per-label cuts can make all errors cost."""
    return float(cost_by_vertex(hulls, costs)[cost_vertices(hulls, costs)].sum())
