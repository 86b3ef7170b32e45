"""Single figures over documents, each computed for many rows of summed values at once."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from app.metrics.base import measures
from app.metrics.counting.document_values import DocumentValues, RankingEntry, Values


class DocumentFigure(NamedTuple):
    """A figure made of some columns of `DocumentValues`."""

    columns: list[int]
    values: Callable[[Values], Values]
    """(rows, those columns) of sums → one value a row; NaN where it is not defined."""


def document_figures(values: DocumentValues) -> dict[str, DocumentFigure]:
    """The averages over documents that get intervals, then decision and ranking figures, by name.

    Figures that are lists of numbers are left out.
    """
    first, n_measures = values.samples_start, len(measures())
    samples = {
        f"samples.{name}": DocumentFigure([first + i, first + n_measures + i], _quotient)
        for i, (name, measure) in enumerate(measures().items())
        if "samples" in measure.intervals
    }
    decisions = {
        name: DocumentFigure([1 + i, 0], _quotient)
        for i, name in enumerate(values.decision_metrics)
    }
    ranking = {
        entry.name: DocumentFigure([0, *values.columns(entry)], _ranking(values, entry))
        for entry in values.entries
        if not isinstance(entry.metric.figure([0.0] * entry.metric.width, 1.0), list)
    }
    return {**samples, **decisions, **ranking}


def _quotient(sums: Values) -> Values:
    total, count = sums.T
    return np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)


def _ranking(values: DocumentValues, entry: RankingEntry) -> Callable[[Values], Values]:
    is_known = values.has_propensity or not entry.metric.needs_propensity
    return partial(_row_by_row, entry) if is_known else _undefined


def _row_by_row(entry: RankingEntry, sums: Values) -> Values:
    rows = sums.tolist()
    return np.array([entry.metric.figure(row, n or 1.0) for n, *row in rows], np.float64)


def _undefined(sums: Values) -> Values:
    return np.full(len(sums), np.nan)
