"""ResampledSystem: which sums over documents some figures need, and the figures of such sums."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from app.evaluation.kept.counted_documents import CountedDocuments
from app.metrics.base import Average, measures
from app.metrics.counting.averages import measure
from app.metrics.counting.cells import Cells
from app.metrics.counting.document_figures import DocumentFigure, document_figures
from app.metrics.counting.pairs import Pairs

Values = NDArray[np.float64]
Figures = dict[str, Values]
OVER_LABELS: tuple[Average, ...] = ("micro", "macro", "macro_in_test")


class SummableBlock(NamedTuple):
    """What is summed over some documents."""

    values: Values
    """(documents, columns)."""
    pairs: csc_array
    """(3 · tables, documents): 1 for every pair, those that are TP first, then FP, then FN."""


@dataclass(frozen=True)
class ResampledSystem:
    """A system, and the figures that are wanted of its resamples."""

    documents: CountedDocuments
    over_labels: list[str]
    over_documents: dict[str, DocumentFigure]

    @classmethod
    def of(cls, documents: CountedDocuments, names: Collection[str] | None = None) -> Self:
        """All figures that can be resampled, or those of these names."""
        of_labels = [
            f"{average}.{name}"
            for average in OVER_LABELS
            for name, one in measures().items()
            if average in one.intervals
        ]
        of_documents = document_figures(documents.values)
        wanted = {*of_labels, *of_documents} if names is None else set(names)
        return cls(
            documents,
            [name for name in of_labels if name in wanted],
            {name: one for name, one in of_documents.items() if name in wanted},
        )

    @property
    def names(self) -> list[str]:
        """The figures, by name."""
        return [*self.over_labels, *self.over_documents]

    @cached_property
    def columns(self) -> list[int]:
        """The columns of `DocumentValues` that are summed."""
        return sorted({c for figure in self.over_documents.values() for c in figure.columns})

    @cached_property
    def n_tables(self) -> int:
        """Contingency tables that are summed: one a label, or one alone for micro-averages."""
        has_macro = any(not name.startswith("micro.") for name in self.over_labels)
        return self.documents.n_columns if has_macro else 1

    def blocks(self, size: int) -> Iterator[SummableBlock]:
        """`size` documents at a time."""
        for block in self.documents.blocks(size):
            values = np.zeros((block.n_documents, 0))
            if self.columns:
                values = self.documents.matrix(block)[:, self.columns]
            yield SummableBlock(values, self._by_table(block.pairs, block.n_documents))

    def figures(self, sums: Values, tables: Values) -> Figures:
        """The figures of (resamples, columns) and (3, tables, resamples) sums."""
        place = {column: i for i, column in enumerate(self.columns)}
        return {
            **{name: self._over_labels(name, tables) for name in self.over_labels},
            **{
                name: figure.values(sums[:, [place[column] for column in figure.columns]])
                for name, figure in self.over_documents.items()
            },
        }

    def _by_table(self, pairs: Pairs, n_documents: int) -> csc_array:
        column = pairs.column if self.n_tables > 1 else np.zeros_like(pairs.column)
        rows = pairs.kind.astype(np.int64) * self.n_tables + column
        ends = np.searchsorted(pairs.document, np.arange(n_documents + 1))
        shape = (3 * self.n_tables, n_documents)
        return csc_array((np.ones(len(rows)), rows, ends), shape=shape)

    def _over_labels(self, name: str, tables: Values) -> Values:
        average, _, measured = name.partition(".")
        n_documents, averaging = len(self.documents), self.documents.values.averaging
        if average == "micro":
            tp, fp, fn = tables.sum(axis=1)
            tn = n_documents * self.documents.n_columns - tp - fp - fn
            return measure(measured, Cells(tp, fp, fn, tn), averaging)
        tp, fp, fn = tables
        cells = Cells(tp, fp, fn, n_documents - tp - fp - fn)
        values = measure(measured, cells, averaging)
        in_test = average == "macro_in_test"
        return _mean(np.where(cells.support > 0, values, np.nan) if in_test else values)


def _mean(values: Values) -> Values:
    """The mean over labels (first axis) of what is not NaN; NaN where nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
