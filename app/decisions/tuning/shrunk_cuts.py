"""Shrunk cuts: cuts of rare labels shrunk to the common cut that suits all labels together.

Networks score all labels on one scale, so that the common cut says much about a label with few
positives among the held-out documents, of which its own best cut knows little.
"""

import numpy as np
from numpy.typing import NDArray

from app.heldout import HeldOut


def shrunk_cuts(
    held_out: HeldOut, cuts: NDArray[np.float32], *, shrinkage: float, beta: float
) -> NDArray[np.float32]:
    """Per label the mean of its own cut and the common one, weighted by positives and shrinkage.

    A label without a positive gets the common cut.
    """
    positives = np.diff(held_out.truth.indptr)
    own = np.where(np.isfinite(cuts), cuts, 0.0) * positives
    common = shrinkage * common_cut(held_out, beta)
    shrunk: NDArray[np.float32] = (own + common) / (positives + shrinkage)
    return np.where(np.isinf(cuts) & (positives > 0), cuts, shrunk).astype(np.float32)


def common_cut(held_out: HeldOut, beta: float = 1.0) -> float:
    """The cut of the highest micro-F_β if all labels share it, midway between two scores."""
    columns = list(held_out.columns())
    scores = np.concatenate([column.scores for column in columns])
    order = np.argsort(-scores, kind="stable")
    scores = scores[order].astype(np.float64)
    right = np.cumsum(np.concatenate([column.marks for column in columns])[order])
    assigned = np.arange(1, len(right) + 1)
    value = right / (assigned + beta**2 * sum(column.positives for column in columns))
    is_last = np.append(scores[1:] < scores[:-1], True)  # of equal scores all are assigned
    best = int(np.argmax(np.where(is_last, value, -1.0)))
    below = scores[best + 1] if best + 1 < len(scores) else scores[best] - 1.0
    return float(scores[best] + below) / 2


def shrunk_in_ranks(
    held_out: HeldOut, cuts: NDArray[np.float32], shrinkage: float
) -> NDArray[np.float32]:
    """Per label the cut at the mean of two log ranks: that of its cut, that of its positives.

    A label with one held-out positive that ranks in the thousands has its own best F1 at a cut that
    assigns thousands, and a few such cuts ruin micro-F1. The mean moves it towards
    assigning the label as often as documents carry it.

    They weigh as many as the label has held-out positives, and `shrinkage`. Only lower cuts are
    moved: a label that is assigned too rarely does no harm. Labels without a positive keep theirs.
    """
    if not shrinkage:
        return cuts
    shrunk = cuts.copy()
    for label, column in enumerate(held_out.columns()):
        n, scores = column.positives, np.sort(column.scores)[::-1]
        rank = int(np.count_nonzero(scores > cuts[label]))
        if column.marks.any() and rank > n:
            mean = (n * np.log(rank) + shrinkage * np.log(n)) / (n + shrinkage)
            kept = int(np.clip(np.round(np.exp(mean)), 1, rank))
            if kept < rank:  # midway between the last score that is kept and the first that is not
                shrunk[label] = (np.float64(scores[kept - 1]) + scores[kept]) / 2
    return shrunk
