"""Scored pairs on disk, where rows are sparse: written by documents, read by labels.

Pairs are sorted by label a run at a time, as an external sort does: a run is some documents whose
pairs fit in memory. Reading some labels is then one short read a run.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Scores, Truth
from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.score_rows import ScoredPairs, ScoreRows

RUN = 2_000_000
BLOCK = 1_000_000


class PairScoreFile:
    """Runs of pairs in the order of 2·label + (0 true, 1 not), then of the document.

    A pair is its score and its document; where each label begins is kept a run.
    """

    def __init__(self, folder: Path, n_labels: int, dtype: Any = np.float32) -> None:
        self.n_labels = n_labels
        self.n_documents = self.n_scores = 0
        self._scores = ArrayFile(folder / "pair-scores", dtype)
        self._documents = ArrayFile(folder / "pair-documents", np.int32)
        self._offsets = ArrayFile(folder / "pair-offsets", np.int64)
        self._counts = np.zeros(n_labels, np.int64)
        self._pending: list[tuple[ScoredPairs, NDArray[np.int64]]] = []
        self._n_pending = 0
        self._runs: list[list[int]] = []
        """The sizes of each run's chunks."""

    @property
    def bytes_a_score(self) -> int:
        """Bytes on disk for each score and its document."""
        return int(self.dtype.itemsize + self._documents.dtype.itemsize)

    def append(self, rows: ScoreRows, truth: Truth) -> None:
        """Add a chunk; zero-shot columns of the truth are not kept."""
        pairs = rows if isinstance(rows, ScoredPairs) else ScoredPairs.of(rows.scores)
        document = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
        at = pairs.find(document, truth.indices.astype(np.int64))
        key = 2 * pairs.column + 1
        key[at[at >= 0]] -= 1
        self._pending.append((pairs, key))
        self._n_pending += len(key)
        self.n_documents += pairs.n_documents
        self.n_scores += len(key)
        if self._n_pending >= RUN:
            self._write_run()

    def columns(self) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.bool_]]]:
        """For every label: its number, its scores and its marks over the documents it has."""
        for label, scores, n_true, _ in self._columns():
            yield label, scores, np.arange(len(scores)) < n_true

    def whole_columns(self) -> Iterator[NDArray[np.float32]]:
        """Every label's scores in the documents' order, -inf where there is none."""
        for _, scores, _, documents in self._columns():
            column = np.full(self.n_documents, -np.inf, scores.dtype)
            column[documents] = scores
            yield column

    def rows(self) -> Iterator[Scores]:
        """The scores of the chunks again, as they were added."""
        first = 0
        for number, sizes in enumerate(self._runs_written()):
            offsets, scores, documents = self._read(number, slice(0, self.n_labels))
            shape = (sum(sizes), 2 * self.n_labels)
            by_key = csc_array((scores, documents - first, offsets - offsets[0]), shape=shape)
            by_document = by_key.tocsr()
            first += sum(sizes)
            ends = np.cumsum(sizes)
            for start, end in zip(ends - sizes, ends, strict=True):
                yield self._array(by_document, slice(start, end))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the scores."""
        return self._scores.dtype

    def close(self) -> None:
        """Close the files."""
        for file in (self._scores, self._documents, self._offsets):
            file.close()

    def _array(self, by_document: Any, rows: slice) -> Scores:
        starts = by_document.indptr[rows.start : rows.stop + 1]
        span = slice(starts[0], starts[-1])
        column = by_document.indices[span] // 2
        order = np.lexsort((column, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        scores = by_document.data[span][order]
        return ScoredPairs(starts - starts[0], column[order], scores, self.n_labels).array()

    def _columns(
        self,
    ) -> Iterator[tuple[int, NDArray[np.float32], int, NDArray[np.int32]]]:
        """For every label: number, scores with the true ones first, how many those, documents."""
        n_runs = len(self._runs_written())
        for labels in _label_blocks(self._counts):
            parts = [self._read(number, labels) for number in range(n_runs)]
            width = 2 * (labels.stop - labels.start)
            starts, scores, documents = _merged(parts, width)
            for i in range(labels.stop - labels.start):
                start, middle, end = starts[2 * i : 2 * i + 3].tolist()
                own = slice(start, end)
                yield labels.start + i, scores[own], middle - start, documents[own]

    def _read(self, number: int, labels: slice) -> tuple[Any, Any, Any]:
        """Where the labels' keys begin in a run, and their scores and documents."""
        width = 2 * self.n_labels + 1
        n_keys = 2 * (labels.stop - labels.start)
        offsets = self._offsets.read(number * width + 2 * labels.start, n_keys + 1)
        start, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        return offsets, self._scores.read(start, count), self._documents.read(start, count)

    def _runs_written(self) -> list[list[int]]:
        if self._pending:
            self._write_run()
        return self._runs

    def _write_run(self) -> None:
        pairs = ScoredPairs.stacked([one for one, _ in self._pending])
        keys = np.concatenate([key for _, key in self._pending])
        shape = (pairs.n_documents, 2 * self.n_labels)
        by_key = csr_array((pairs.score, keys, pairs.starts), shape=shape).tocsc()
        first = self.n_documents - pairs.n_documents
        self._offsets.append(self._scores.length + by_key.indptr.astype(np.int64))
        self._scores.append(by_key.data)
        self._documents.append(by_key.indices + first)
        self._counts += np.diff(by_key.indptr[::2])
        self._runs.append([one.n_documents for one, _ in self._pending])
        self._pending, self._n_pending = [], 0


def _label_blocks(counts: NDArray[np.int64]) -> Iterator[slice]:
    """Neighbouring labels that have about `BLOCK` pairs together, or one that has more."""
    ends, first = np.cumsum(counts), 0
    while first < len(counts):
        before = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        yield slice(first, stop)
        first = stop


def _merged(parts: list[tuple[Any, Any, Any]], width: int) -> tuple[Any, Any, Any]:
    """The runs' pairs by key: where each key begins, the scores, the documents."""
    if not parts:
        return np.zeros(width + 1, np.int64), np.zeros(0, np.float32), np.zeros(0, np.int32)
    scores, documents = (np.concatenate([one[i] for one in parts]) for i in (1, 2))
    sizes = np.stack([np.diff(offsets) for offsets, _, _ in parts])
    keys = np.concatenate([np.repeat(np.arange(width), size) for size in sizes])
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    if len(parts) == 1:
        return starts, scores, documents
    order = np.argsort(keys, kind="stable")
    return starts, scores[order], documents[order]
