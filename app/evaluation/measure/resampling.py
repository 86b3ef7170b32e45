"""Headline figures of bootstrap samples, from the documents' records and pairs on disk."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.evaluation.storage.array_file import ArrayFile
from app.metrics.averages import Averaging
from app.metrics.contingency import Cells
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.pairs import FN, FP, TP, Pairs
from app.metrics.significance.bootstrap import resample_weights

Values = NDArray[np.float64]
DOCUMENTS = 2048
BATCH = 50
"""Resamples done at once: three counts a label are held for each."""


class PairFile:
    """The decided and true pairs of all documents on disk, as column·4 + kind."""

    def __init__(self, path: Any) -> None:
        self._file = ArrayFile(path, np.int64)

    def append(self, pairs: Pairs) -> None:
        """Add a chunk's pairs; they are in document order."""
        self._file.append(pairs.column * 4 + pairs.kind)

    def read(self, start: int, count: int) -> NDArray[np.int64]:
        """Some pairs."""
        return self._file.read(start, count)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Resampler:
    """Resamples documents, block by block, from their records and pairs on disk."""

    def __init__(
        self, records: ArrayFile, pairs: PairFile, values: DocumentValues, n_columns: int
    ) -> None:
        self.records, self.pairs, self.values, self.n_columns = records, pairs, values, n_columns

    def figures(self, resamples: int, seed: int) -> dict[str, Values]:
        """The figures of every resample, by name.

        The draws depend on the number of documents and the seed alone, so that two systems on the
        same documents are resampled alike.
        """
        found = [
            self._batch(np.random.default_rng([seed, start]), min(BATCH, resamples - start))
            for start in range(0, resamples, BATCH)
        ]
        return {name: np.concatenate([one[name] for one in found]) for name in found[0]}

    def _batch(self, rng: np.random.Generator, n: int) -> dict[str, Values]:
        sizes = [
            min(DOCUMENTS, self.records.length - start)
            for start in range(0, self.records.length, DOCUMENTS)
        ]
        sums = np.zeros((n, len(self.values.names)))
        labels = np.zeros((3, self.n_columns, n))
        blocks = self._blocks()
        for weights, (matrix, kinds) in zip(resample_weights(rng, sizes, n), blocks, strict=True):
            sums += weights @ matrix
            for kind in (TP, FP, FN):
                labels[kind] += kinds[kind].T @ weights.T
        return self._resampled(sums, labels)

    def _blocks(self) -> Iterator[tuple[Values, list[csr_array]]]:
        at = 0
        for records in self.records.blocks(DOCUMENTS):
            counts = (records["tp"] + records["fp"] + records["fn"]).astype(np.int64)
            coded = self.pairs.read(at, int(counts.sum()))
            at += int(counts.sum())
            document = np.repeat(np.arange(len(records)), counts)
            yield (
                self.values.matrix(records),
                [
                    _matrix(document, coded, kind, (len(records), self.n_columns))
                    for kind in (TP, FP, FN)
                ],
            )

    def _resampled(self, sums: Values, labels: NDArray[np.float64]) -> dict[str, Values]:
        tp, fp, fn = labels
        averaging = self.values.averaging
        cells = Cells(tp, fp, fn, self.records.length - tp - fp - fn)
        figures = {f"micro.{name}": _micro(cells, name, averaging) for name in MICRO}
        figures["macro.f1"] = _mean(averaging.values("f1", cells))
        figures["macro_in_test.f1"] = _mean(
            np.where(cells.support > 0, averaging.values("f1", cells), np.nan)
        )
        rows = [(self.values.ranking(row), self.values.samples(row)) for row in sums]
        figures["samples.f1"] = _column([samples["f1"] for _, samples in rows])
        figures["subset_accuracy"] = _column([self.values.subset_accuracy(row) for row in sums])
        for name in rows[0][0]:
            if name != "eleven_points":
                figures[name] = _column([ranking[name] for ranking, _ in rows])
        return figures


MICRO = ("precision", "recall", "f1")


def _micro(cells: Cells, name: str, averaging: Averaging) -> Values:
    totals = [cell.sum(axis=0) for cell in (cells.tp, cells.fp, cells.fn, cells.tn)]
    return averaging.values(name, Cells(*totals))


def _mean(values: Values) -> Values:
    """The mean over labels (first axis) of what is not NaN; NaN where nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _column(values: list[Any]) -> Values:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _matrix(
    document: NDArray[np.int64], coded: NDArray[np.int64], kind: int, shape: tuple[int, int]
) -> csr_array:
    chosen = coded % 4 == kind
    ones = np.ones(int(chosen.sum()))
    return csr_array((ones, (document[chosen], coded[chosen] // 4)), shape=shape)
