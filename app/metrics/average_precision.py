"""How far up a label's true documents stand among all, and the figures that follow from it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
FEW = 40


class Standing(NamedTuple):
    """One label's cuts just below each of its true documents' scores, by falling score.

    Equal scores are one entry. Documents without a score are in no entry.
    """

    score: NDArray[np.float32]
    tp: Integers
    """True documents scored at least as high."""
    assigned: Integers
    """All documents scored at least as high."""
    positives: int
    """True documents, those without a score included."""

    @property
    def fp(self) -> Integers:
        """Other documents scored at least as high."""
        return self.assigned - self.tp


def standing(scores: NDArray[np.float32], marks: NDArray[np.bool_]) -> Standing:
    """The standing of one label's true documents among all documents."""
    right = scores[marks]
    positives = len(right)
    right = right[right > -np.inf]
    if not len(right):
        empty = np.zeros(0, np.int64)
        return Standing(np.zeros(0, np.float32), empty, empty, positives)
    right = np.sort(right)[::-1]
    last = np.flatnonzero(np.append(np.diff(right) != 0, True))
    at = right[last]
    return Standing(at, last + 1, _at_least(scores, at), positives)


def _at_least(scores: NDArray[np.float32], cuts: NDArray[np.float32]) -> Integers:
    """How many scores are not below each cut; few cuts are counted, many looked up in order."""
    if len(cuts) <= FEW:
        return np.array([np.count_nonzero(scores >= cut) for cut in cuts], np.int64)
    rising = np.sort(scores)
    return len(rising) - np.searchsorted(rising, cuts)


def average_precision(standing: Standing) -> float | None:
    """Σ over true documents of the precision at their score, over their number.

    As scikit-learn's `average_precision_score`; None without true documents. A true document
    without a score is never found and adds 0.

    >>> found = standing_of([0.9, 0.8, 0.7], [True, False, True])
    >>> round(average_precision(found), 4)
    0.8333
    """
    if not standing.positives:
        return None
    gained = np.diff(standing.tp, prepend=0)
    return float((gained * (standing.tp / standing.assigned)).sum() / standing.positives)


def standing_of(scores: list[float], marks: list[bool]) -> Standing:
    """The standing of one label given as plain lists."""
    return standing(np.array(scores, np.float32), np.array(marks, np.bool_))
