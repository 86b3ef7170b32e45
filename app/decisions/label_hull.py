"""LabelHull: what a label's stored hull says of its cuts on held-out documents."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.calibration.calibration import Calibration
from app.decisions.tuning.hulls import Hulls

LOWEST, BINS = 0.1, 10
"""Pairs less probable than this are left out: there are so many that they would hide the rest."""


class HullPoint(NamedTuple):
    """One cut: how many documents with the label and without it score above."""

    threshold: float
    tp: int
    fp: int


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Held-out pairs of similar probability: the mean of it, and the share of true ones."""

    probability: float
    share: float
    pairs: int


@dataclass(frozen=True, slots=True)
class LabelHull:
    """One label's hull vertices by falling cut."""

    points: list[HullPoint]
    documents: int
    positives: int

    @classmethod
    def of(cls, hulls: Hulls, label: int) -> "LabelHull":
        """The label's part of the hulls."""
        own = slice(hulls.offsets[label], hulls.offsets[label + 1])
        rows = (hulls.cuts[own].tolist(), hulls.tp[own].tolist(), hulls.fp[own].tolist())
        points = [HullPoint(*row) for row in zip(*rows, strict=True)]
        return cls(points, hulls.n_documents, int(hulls.positives[label]))

    def nearest(self, cut: float) -> HullPoint:
        """The vertex of the nearest cut, the higher of two: a hull keeps no other cuts."""
        if cut >= self.points[0].threshold:
            return self.points[0]
        return min(self.points, key=lambda point: abs(point.threshold - cut))

    def has_counts_at(self, cut: float) -> bool:
        """Whether the counts of the nearest vertex are those of the cut itself."""
        return cut >= self.points[0].threshold or cut == self.nearest(cut).threshold


def reliability(hulls: Hulls, calibration: Calibration) -> list[ReliabilityBin]:
    """How many held-out pairs are true beside how probable they are said to be, in ten bins.

    The pairs between two neighbouring cuts of a label count with the mean of the probabilities at
    both. They are the documents that the calibration was fitted on.
    """
    labels = hulls.label_of_vertex
    if len(labels) <= 1:
        return []
    # The only cut of a label without documents is infinite: there are no pairs beside it to count.
    cuts = np.where(np.isfinite(hulls.cuts), hulls.cuts, np.float32(0))
    at_cut = calibration.probability(labels, cuts).astype(np.float64)
    said = (at_cut[1:] + at_cut[:-1]) / 2
    right = np.diff(hulls.tp).astype(np.int64)
    pairs = right + np.diff(hulls.fp)
    counted = (labels[1:] == labels[:-1]) & (pairs > 0) & (said >= LOWEST)
    return _binned(said[counted], right[counted], pairs[counted])


def _binned(
    said: NDArray[np.float64], right: NDArray[np.int64], pairs: NDArray[np.int64]
) -> list[ReliabilityBin]:
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    sums = [
        np.bincount(place, weights=column, minlength=BINS)
        for column in (said * pairs, right, pairs)
    ]
    return [
        ReliabilityBin(probability / n, share / n, int(n))
        for probability, share, n in zip(*(column.tolist() for column in sums), strict=True)
        if n
    ]
