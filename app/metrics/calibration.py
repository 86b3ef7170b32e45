"""How far probabilities can be believed: reliability bins, expected calibration error, risk.

Probabilities are counted in steps of 0.0001, so memory does not grow with the pairs; the edges of
the bins lie on such steps, everything else is exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.metrics.counting.exact_sums import ExactSums

STEPS = 10_000
BINS = 15
LOWEST = 0.1
"""Pairs below this probability are left out: there are so many that they would hide the rest."""


class Bin(NamedTuple):
    """Pairs of similar probability: how probable they were said to be, and how many were true."""

    lower: float
    upper: float
    pairs: int
    probability: float
    share: float


class Risk(NamedTuple):
    """When only assignments of at least this probability are kept: their share, and its errors."""

    coverage: float
    risk: float
    min_probability: float


class Reliability:
    """Counts of pairs by probability."""

    def __init__(self) -> None:
        self._pairs = np.zeros(STEPS + 1, np.int64)
        self._true = np.zeros(STEPS + 1, np.int64)
        self._probability = ExactSums(STEPS + 1)

    def add(self, probabilities: NDArray[np.float32], marks: NDArray[np.bool_]) -> None:
        """Count pairs: how probable, and whether true."""
        step = np.floor(probabilities.astype(np.float64) * STEPS).astype(np.int64)
        self._pairs += np.bincount(step, minlength=STEPS + 1)
        self._true += np.bincount(step[marks], minlength=STEPS + 1)
        self._probability.add_at(step, probabilities)

    def tally(self) -> dict[str, NDArray[np.int64]]:
        """What was counted, to be added to another's counts."""
        return {"pairs": self._pairs, "true": self._true, "limbs": self._probability.limbs}

    def merge(self, tally: dict[str, NDArray[np.int64]]) -> None:
        """Add the counts of other pairs."""
        self._pairs += tally["pairs"]
        self._true += tally["true"]
        self._probability.merge(tally["limbs"])

    def bins(self, n: int = BINS) -> list[Bin]:
        """At most n bins with about equally many pairs each, by rising probability."""
        total = int(self._pairs.sum())
        if not total:
            return []
        running = np.cumsum(self._pairs)
        which = np.minimum((running - self._pairs) * n // total, n - 1)
        spans = [np.flatnonzero((which == i) & (self._pairs > 0)) for i in range(n)]
        sums = self._probability.totals()
        return [self._bin(span, sums) for span in spans if len(span)]

    def risks(self, n: int = 20) -> list[Risk]:
        """Risk at about n evenly spaced coverages, when the least probable assignments go first."""
        kept = np.cumsum(self._pairs[::-1])[::-1]
        right = np.cumsum(self._true[::-1])[::-1]
        total = int(kept[0])
        if not total:
            return []
        wanted = np.ceil(np.arange(1, n + 1) * total / n)
        steps = np.unique([int(np.flatnonzero(kept >= count)[-1]) for count in wanted])[::-1]
        return [
            Risk(float(kept[s] / total), float(1 - right[s] / kept[s]), s / STEPS) for s in steps
        ]

    def _bin(self, span: NDArray[np.int64], sums: NDArray[np.float64]) -> Bin:
        pairs = int(self._pairs[span].sum())
        return Bin(
            float(span[0] / STEPS),
            float(min((span[-1] + 1) / STEPS, 1.0)),
            pairs,
            float(sums[span].sum() / pairs),
            float(self._true[span].sum() / pairs),
        )


def expected_calibration_error(bins: list[Bin]) -> float | None:
    """Σ |share − probability| over the bins, weighted by their pairs; None without bins.

    >>> expected_calibration_error([Bin(0.1, 0.5, 1, 0.3, 0.5), Bin(0.5, 1.0, 3, 0.8, 0.8)])
    0.05
    """
    pairs = sum(one.pairs for one in bins)
    if not pairs:
        return None
    return sum(one.pairs * abs(one.share - one.probability) for one in bins) / pairs
