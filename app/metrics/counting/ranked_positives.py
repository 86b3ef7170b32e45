"""RankedPositives: how one label's true documents stand among all documents by score."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
FEW = 40


class RankedPositives(NamedTuple):
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


def ranked_positives(
    scores: NDArray[np.float32], marks: NDArray[np.bool_], positives: int | None = None
) -> RankedPositives:
    """The ranked true documents of one label, given every scored document's score and truth.

    `positives` counts its true documents where those without a score are not among `marks`.
    """
    true = scores[marks]
    positives = len(true) if positives is None else positives
    true = true[true > -np.inf]
    if not len(true):
        return never_found(positives)
    true = np.sort(true)[::-1]
    last = np.flatnonzero(np.append(np.diff(true) != 0, True))
    cuts = true[last]
    return RankedPositives(cuts, last + 1, _at_least(scores, cuts), positives)


def never_found(positives: int) -> RankedPositives:
    """What a label has whose true documents are all without a score, as a zero-shot label's."""
    empty = np.zeros(0, np.int64)
    return RankedPositives(np.zeros(0, np.float32), empty, empty, positives)


def _at_least(scores: NDArray[np.float32], cuts: NDArray[np.float32]) -> Integers:
    """How many scores are not below each cut; few cuts are counted, many looked up in order."""
    if len(cuts) <= FEW:
        return np.array([np.count_nonzero(scores >= cut) for cut in cuts], np.int64)
    rising = np.sort(scores)
    return len(rising) - np.searchsorted(rising, cuts)
