"""The cuts of the highest macro-F_β: every label's own best."""

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Hulls


def f_by_vertex(hulls: Hulls, beta: float = 1.0) -> NDArray[np.float64]:
    """F_β of its label at every vertex; 0/0 is 0."""
    tp, fp = hulls.tp.astype(np.float64), hulls.fp.astype(np.float64)
    denominator = tp + fp + beta**2 * hulls.positives[hulls.label_of_vertex]
    return (1 + beta**2) * tp / np.where(denominator > 0, denominator, 1)


def macro_f_vertices(hulls: Hulls, beta: float = 1.0) -> NDArray[np.int64]:
    """Each label's vertex of highest F_β; the highest cut among equals."""
    return hulls.highest(f_by_vertex(hulls, beta))


def macro_f(hulls: Hulls, vertices: NDArray[np.int64], beta: float = 1.0) -> float:
    """Macro-F_β on the held-out data with each label's cut at the given vertex."""
    return float(f_by_vertex(hulls, beta)[vertices].mean()) if len(vertices) else 0.0
