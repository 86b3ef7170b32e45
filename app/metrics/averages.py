"""Micro, macro, weighted and samples averages of the contingency measures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.metrics.contingency import MEASURES, Cells, ZeroDivision, measure

Values = NDArray[np.float64]
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Averaging:
    """How 0/0 is read, and the β of `fbeta`."""

    zero_division: ZeroDivision = "0"
    beta: float = 1.0

    def values(self, name: str, cells: Cells) -> Values:
        """A measure for each table; NaN where 0/0 is skipped."""
        return measure(name, cells, beta=self.beta, zero_division=self.zero_division)


def micro(cells: Cells, averaging: Averaging) -> Figures:
    """Every measure of the summed table."""
    return macro(cells.total(), averaging)


def macro(cells: Cells, averaging: Averaging) -> Figures:
    """The mean of every measure over the tables; None where there is none to average."""
    return {name: mean(averaging.values(name, cells)) for name in MEASURES}


def weighted(cells: Cells, averaging: Averaging) -> Figures:
    """The mean of every measure over the tables, weighted by their true pairs.

    Where no table has a true pair it is the plain mean, as in scikit-learn.
    """
    return {name: _weighted(averaging.values(name, cells), cells) for name in MEASURES}


def macro_star_f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean of macro-precision and macro-recall: less suitable (Opitz & Burst 2021)."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def mean(values: Values) -> float | None:
    """The mean of the values that are not NaN; None where there is none."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else None


def _weighted(values: Values, cells: Cells) -> float | None:
    kept = ~np.isnan(values)
    weights = cells.support[kept]
    return float(values[kept] @ weights / weights.sum()) if weights.sum() else mean(values)
