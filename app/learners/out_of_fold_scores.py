"""OutOfFoldScores: collects held-out scores, all of them, or each document's best and true."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from app.arrays import Scores, Truth
from app.heldout import HeldOut
from app.kernels import kernels

DENSE_CELLS = 200_000_000
"""Up to so many pairs of document and label are all kept: 800 MB."""
BEST = 300


class OutOfFoldScores(Protocol):
    """Takes scores of some documents and labels; no pair comes twice."""

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores (documents, labels)."""
        ...

    def held_out(self) -> HeldOut:
        """All that was kept, with the truth."""
        ...


def out_of_fold_scores(
    truth: Truth, *, dense_cells: int = DENSE_CELLS, best: int = BEST
) -> OutOfFoldScores:
    """The exact form where it fits the bound, the sparse one otherwise."""
    if truth.shape[0] * truth.shape[1] <= dense_cells or truth.shape[1] <= best:
        return AllScores(truth)
    return BestScores(truth, best)


class AllScores:
    """Every score, a label's side by side, since tuners read label after label."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._scores = np.full(truth.shape[::-1], -np.inf, np.float32)

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores; blocks of labels may come from several threads at once."""
        self._scores[np.ix_(labels, documents)] = scores.T

    def held_out(self) -> HeldOut:
        """All of them."""
        return HeldOut.of(self._scores.T, self._truth)


class BestScores:
    """Each document's best scores, and those of its true labels wherever they rank."""

    def __init__(self, truth: Truth, best: int) -> None:
        self._truth = csr_array(truth)
        positions = np.arange(truth.nnz)
        by_document = (positions, self._truth.indices, self._truth.indptr)
        self._positions = csc_array(csr_array(by_document, shape=truth.shape))
        self._true = np.full(truth.nnz, -np.inf, np.float32)
        self._scores = np.full((truth.shape[0], best), -np.inf, np.float32)
        self._labels = np.zeros((truth.shape[0], best), np.int32)

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores, one call after the other: ties stay with what came first."""
        if len(labels) == self._truth.shape[1]:
            self._keep_true_by_document(documents, labels, scores)
        else:
            self._keep_true_by_label(documents, labels, scores)
        kernels("linear.top_k_heap").push_scores(
            np.ascontiguousarray(scores, np.float32),
            np.asarray(documents, np.int64),
            np.asarray(labels, np.int32),
            self._scores,
            self._labels,
        )

    def _keep_true_by_document(self, documents: Any, labels: Any, scores: Scores) -> None:
        columns = np.empty(len(labels), np.int64)
        columns[labels] = np.arange(len(labels))
        starts = self._truth.indptr
        for row, document in enumerate(documents):
            span = slice(starts[document], starts[document + 1])
            self._true[span] = scores[row, columns[self._truth.indices[span]]]

    def _keep_true_by_label(self, documents: Any, labels: Any, scores: Scores) -> None:
        rows = np.full(self._truth.shape[0], -1)
        rows[documents] = np.arange(len(documents))
        starts = self._positions.indptr
        for column, label in enumerate(labels):
            span = slice(starts[label], starts[label + 1])
            positions, own = self._positions.data[span], rows[self._positions.indices[span]]
            self._true[positions[own >= 0]] = scores[own[own >= 0], column]

    def held_out(self) -> HeldOut:
        """What was kept; a cut below a document's worst kept score is not exact."""
        n_documents, n_labels = self._truth.shape
        kept = self._scores > -np.inf
        every = np.arange(n_documents, dtype=np.int64)
        rows = np.concatenate(
            [np.repeat(every, kept.sum(axis=1)), np.repeat(every, np.diff(self._truth.indptr))]
        )
        columns = np.concatenate([self._labels[kept], self._truth.indices])
        values = np.concatenate([self._scores[kept], self._true])
        keys, first = np.unique(rows * n_labels + columns, return_index=True)
        pairs = (keys // n_labels, keys % n_labels)
        scores = csc_array(coo_array((values[first], pairs), shape=self._truth.shape))
        return HeldOut.of(scores, self._truth, is_exact=False)
