"""DriftFigure: how far two histograms of the same bins are apart, and whether that is chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.metrics.significance.chi_squared import chi_squared_tail

LEAST_DOCUMENTS = 200
"""Fewer are not judged: the index of so few is large by chance."""
LARGE_PSI = 0.2
"""What credit scoring, where the index comes from, calls a significant shift."""
UNLIKELY = 0.001
SMOOTHING = 0.5
"""Documents added to every bin, so that an empty one makes no index infinite."""


@dataclass(frozen=True, slots=True)
class DriftFigure:
    """One measure of some documents beside that of the held-out ones."""

    measure: str
    documents: int
    psi: float
    p_value: float
    is_drifted: bool
    """Whether the shift is both large and no chance, given how many measures were looked at."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def drift_figure(
    measure: str, reference: Sequence[float], counts: Sequence[float], n_measures: int
) -> DriftFigure:
    """The figure of one of so many measures, from the documents in each bin of both."""
    expected, found = np.asarray(reference, np.float64), np.asarray(counts, np.float64)
    n_documents = int(found.sum())
    psi, p_value = population_stability(expected, found), same_shares(expected, found)
    is_drifted = (
        n_documents >= LEAST_DOCUMENTS and psi > LARGE_PSI and p_value * n_measures < UNLIKELY
    )
    return DriftFigure(measure, n_documents, psi, p_value, is_drifted)


def population_stability(expected: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """The population stability index: Σ (q − p) ln(q / p) over the shares in each bin.

    >>> population_stability(np.array([50.0, 50.0]), np.array([500.0, 500.0]))
    0.0
    """
    p, q = _shares(expected), _shares(found)
    return float(np.sum((q - p) * np.log(q / p)))


def same_shares(expected: NDArray[np.float64], found: NDArray[np.float64]) -> float:
    """The p-value of a χ² test of homogeneity: both came from the same shares; 1 without data."""
    table = np.stack([expected, found])
    table = table[:, table.sum(axis=0) > 0]
    sums = table.sum(axis=1)
    if table.shape[1] < 2 or not sums.all():
        return 1.0
    alike = np.outer(sums, table.sum(axis=0)) / sums.sum()
    return chi_squared_tail(float(np.sum((table - alike) ** 2 / alike)), table.shape[1] - 1)


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    smoothed = counts + SMOOTHING
    shares: NDArray[np.float64] = smoothed / smoothed.sum()
    return shares
