"""Micro, macro, weighted and samples averages of the contingency measures."""

import numpy as np

from app.metrics import measures
from app.metrics.base import Figures
from app.metrics.counting.cells import Averaging, Cells, Values


def measure(name: str, cells: Cells, averaging: Averaging) -> Values:
    """The measure of that name for each table; NaN where 0/0 is skipped."""
    return measures()[name].values(cells, averaging)


def label_measures() -> list[str]:
    """The names of the measures that are reported for every label."""
    return [name for name, one in measures().items() if one.is_per_label]


def micro(cells: Cells, averaging: Averaging) -> Figures:
    """Every measure of the summed table."""
    return macro(cells.total(), averaging)


def macro(cells: Cells, averaging: Averaging) -> Figures:
    """The mean of every measure over the tables; None where there is none to average."""
    return {name: nan_mean(one.values(cells, averaging)) for name, one in measures().items()}


def weighted(cells: Cells, averaging: Averaging) -> Figures:
    """The mean of every measure over the tables, weighted by their true pairs.

    Where no table has a true pair it is the plain mean, as in scikit-learn.
    """
    return {
        name: _weighted(one.values(cells, averaging), cells) for name, one in measures().items()
    }


def nan_mean(values: Values) -> float | None:
    """The mean of the values that are not NaN; None where there is none."""
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else None


def _weighted(values: Values, cells: Cells) -> float | None:
    kept = ~np.isnan(values)
    weights = cells.support[kept]
    return float(values[kept] @ weights / weights.sum()) if weights.sum() else nan_mean(values)
