"""What more documents will give: a power law through a learning curve, with an interval.

Quality is a - b·n^-c with a ≤ 1 and b ≥ 0. A handful of points leaves c open, so every c of a grid
counts by how well it fits, and the interval is that of their mixture. A curve of real documents is
no power law, which a spread beside that of the points stands for; it grows with the distance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

EXPONENTS = np.linspace(0.1, 1.5, 29)
COVERAGE = 0.9
MISFIT = 0.004
"""Standard deviation of what a power law leaves of a curve."""
MISFIT_PER_DOUBLING = 0.008
"""The same for each doubling beyond the last point. Both were set before they were tried
(scripts/studies/learning_curves.py)."""


class Point(NamedTuple):
    """A figure at a number of documents, and the standard error of that figure."""

    documents: float
    value: float
    error: float


class Extrapolated(NamedTuple):
    """What is expected at a number of documents; `low` to `high` holds it nine times in ten."""

    documents: int
    value: float
    low: float
    high: float


class _Curves(NamedTuple):
    """Mean and standard deviation of every exponent's prediction, and how much each counts."""

    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    weights: NDArray[np.float64]


def points_of(documents: Sequence[int], values: NDArray[np.float64]) -> list[Point]:
    """Points from values (repeats, sizes); their error is the spread over repeats, of all sizes.

    With one repeat there is no spread to be seen, and none is assumed but the misfit.
    """
    repeats = len(values)
    spread = float(np.sqrt(values.var(axis=0, ddof=1).mean() / repeats)) if repeats > 1 else 0.0
    means = values.mean(axis=0)
    return [Point(n, float(mean), spread) for n, mean in zip(documents, means, strict=True)]


def extrapolate(points: Sequence[Point], documents: int) -> Extrapolated:
    """The figure to expect with so many documents.

    >>> points = [Point(n, 0.9 - 4 * n**-0.5, 0.001) for n in (250, 500, 1000, 2000)]
    >>> round(extrapolate(points, 4000).value, 2), round(0.9 - 4 * 4000**-0.5, 2)
    (0.84, 0.84)
    """
    curves = _curves(points, documents)
    value = float(curves.weights @ curves.means)
    tail = (1 - COVERAGE) / 2
    low, high = _quantile(curves, tail), _quantile(curves, 1 - tail)
    return Extrapolated(documents, min(value, 1.0), max(low, 0.0), min(high, 1.0))


def _curves(points: Sequence[Point], documents: int) -> _Curves:
    n, y, error = (np.array(column, np.float64) for column in zip(*points, strict=True))
    scale = n[-1]  # exponents see numbers near 1
    noise = np.sqrt(error**2 + MISFIT**2)
    beyond = MISFIT_PER_DOUBLING * max(np.log2(documents / scale), 0.0)
    fits = [_fit(c, n / scale, y, noise, documents / scale) for c in EXPONENTS]
    means, variances, misfits = (np.array(column) for column in zip(*fits, strict=True))
    weights = np.exp(-0.5 * (misfits - misfits.min()))
    deviations = np.sqrt(variances + MISFIT**2 + beyond**2)
    return _Curves(means, deviations, weights / weights.sum())


def _fit(
    exponent: float,
    n: NDArray[np.float64],
    y: NDArray[np.float64],
    noise: NDArray[np.float64],
    at: float,
) -> tuple[float, float, float]:
    """Mean and variance of the prediction at `at`, and the sum of squared residuals over noise."""
    columns = np.stack([np.ones_like(n), -(n**-exponent)], axis=1) / noise[:, None]
    covariance = np.linalg.inv(columns.T @ columns)
    ceiling, slope = covariance @ columns.T @ (y / noise)
    if ceiling > 1:  # nothing is better than perfect
        ceiling = 1.0
        slope = float(columns[:, 1] @ (y / noise - columns[:, 0]) / (columns[:, 1] @ columns[:, 1]))
    if slope < 0:  # more documents do no harm
        slope, ceiling = 0.0, float(np.average(y, weights=noise**-2))
    row = np.array([1.0, -(at**-exponent)])
    residuals = y / noise - columns @ np.array([ceiling, slope])
    mean = float(row @ np.array([ceiling, slope]))
    return mean, float(row @ covariance @ row), float(residuals @ residuals)


def _quantile(curves: _Curves, share: float) -> float:
    """Where the mixture's distribution reaches a share, by halving."""
    low, high = -1.0, 2.0
    for _ in range(50):
        middle = (low + high) / 2
        below = float(curves.weights @ ndtr((middle - curves.means) / curves.deviations))
        low, high = (middle, high) if below < share else (low, middle)
    return (low + high) / 2
