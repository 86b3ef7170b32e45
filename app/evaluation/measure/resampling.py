"""Headline figures of bootstrap samples, from the documents' values and pairs on disk."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.evaluation.storage.array_file import ArrayFile
from app.evaluation.storage.document_records import DocumentRecords
from app.evaluation.storage.pair_file import PairFile
from app.metrics import measures
from app.metrics.base import Average
from app.metrics.counting.averages import measure
from app.metrics.counting.cells import Cells
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.pairs import FN, FP, TP, Pairs
from app.metrics.significance.bootstrap import resample_weights

Values = NDArray[np.float64]
DOCUMENTS = 2048
BATCH = 50
"""Resamples done at once: three counts a label are held for each."""


class Resampler:
    """Resamples documents, block by block, from what is on disk.

    `matrix` has the rows of `DocumentValues.matrix`, one after the other.
    """

    def __init__(
        self,
        documents: DocumentRecords,
        pairs: PairFile,
        matrix: ArrayFile,
        values: DocumentValues,
        n_columns: int,
    ) -> None:
        self.documents, self.pairs, self.matrix = documents, pairs, matrix
        self.values, self.n_columns = values, n_columns

    def figures(self, resamples: int, seed: int) -> dict[str, Values]:
        """The figures of every resample, by name.

        The draws depend on the number of documents and the seed alone, so that two systems on the
        same documents are resampled alike.
        """
        batches = [
            self._batch(np.random.default_rng([seed, start]), min(BATCH, resamples - start))
            for start in range(0, resamples, BATCH)
        ]
        return {name: np.concatenate([one[name] for one in batches]) for name in batches[0]}

    def _batch(self, rng: np.random.Generator, n: int) -> dict[str, Values]:
        total = len(self.documents)
        sizes = [min(DOCUMENTS, total - start) for start in range(0, total, DOCUMENTS)]
        sums = np.zeros((n, self.values.width))
        labels = np.zeros((3, self.n_columns, n))
        weights = resample_weights(rng, sizes, n)
        for drawn, (matrix, pairs) in zip(weights, self._blocks(), strict=True):
            sums += drawn @ matrix
            for kind in (TP, FP, FN):
                labels[kind] += self._by_document(pairs, kind, len(matrix)).T @ drawn.T
        return self._figures(sums, labels)

    def _blocks(self) -> Iterator[tuple[Values, Pairs]]:
        width = self.values.width
        rows = (flat.reshape(-1, width) for flat in self.matrix.blocks(DOCUMENTS * width))
        return zip(rows, self.pairs.blocks(self.documents, DOCUMENTS), strict=True)

    def _by_document(self, pairs: Pairs, kind: int, n_documents: int) -> csr_array:
        """(documents, columns): 1 for every pair of the kind."""
        own = pairs.take(pairs.kind == kind)
        ones = np.ones(len(own.column))
        return csr_array((ones, (own.document, own.column)), shape=(n_documents, self.n_columns))

    def _figures(self, sums: Values, labels: NDArray[np.float64]) -> dict[str, Values]:
        tp, fp, fn = labels
        cells = Cells(tp, fp, fn, len(self.documents) - tp - fp - fn)
        rows = [
            {
                **{f"samples.{name}": value for name, value in self.values.samples(row).items()},
                **self.values.decisions(row),
                **self.values.ranking(row),
            }
            for row in sums
        ]
        samples = [f"samples.{name}" for name in _with_interval("samples")]
        others = [*self.values.decisions(sums[0]), *self.values.ranking(sums[0])]
        figures = self._over_labels(cells)
        for name in (*samples, *others):
            if not isinstance(rows[0][name], list):
                figures[name] = _column([row[name] for row in rows])
        return figures

    def _over_labels(self, cells: Cells) -> dict[str, Values]:
        """The averages over labels of every resample."""
        averaging = self.values.averaging
        total = Cells(*(cell.sum(axis=0) for cell in (cells.tp, cells.fp, cells.fn, cells.tn)))
        figures = {
            f"micro.{name}": measure(name, total, averaging) for name in _with_interval("micro")
        }
        for name in _with_interval("macro"):
            figures[f"macro.{name}"] = _mean(measure(name, cells, averaging))
        for name in _with_interval("macro_in_test"):
            values = measure(name, cells, averaging)
            figures[f"macro_in_test.{name}"] = _mean(np.where(cells.support > 0, values, np.nan))
        return figures


def _with_interval(average: Average) -> list[str]:
    """The measures whose average of that kind gets an interval."""
    return [name for name, one in measures().items() if average in one.intervals]


def _mean(values: Values) -> Values:
    """The mean over labels (first axis) of what is not NaN; NaN where nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _column(values: list[Any]) -> Values:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
