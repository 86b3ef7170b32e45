"""OutOfFoldScores: collects held-out scores, all of them, or each document's best and true."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Scores, Truth
from app.heldout import HeldOut
from app.kernels import kernels
from app.resources.need import DENSE_CELLS
from app.resources.scratch import ScratchFolder, release

NUMBERS_A_PAIR = 4
"""Of a sparse pair: score and label, and both again while pairs are sorted by label."""
BEST = 300
ROWS = 4096


class OutOfFoldScores(Protocol):
    """Takes scores of some documents and labels; no pair comes twice."""

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores (documents, labels)."""
        ...

    def held_out(self) -> HeldOut:
        """All that was kept, with the truth."""
        ...


def out_of_fold_scores(
    truth: Truth,
    *,
    scratch: ScratchFolder | None = None,
    dense_cells: int = DENSE_CELLS,
    best: int = BEST,
) -> OutOfFoldScores:
    """All scores where they fit the bound, else each document's best: as many as fit it.

    All scores lie in a file where there is a folder for it.
    """
    n_documents, n_labels = truth.shape
    if n_documents * n_labels <= dense_cells:
        return AllScores(truth, scratch)
    fitting = dense_cells // (NUMBERS_A_PAIR * n_documents)
    return BestScores(truth, max(1, min(best, n_labels, fitting)))


class AllScores:
    """Every score, a label's side by side, since tuners read label after label."""

    def __init__(self, truth: Truth, scratch: ScratchFolder | None = None) -> None:
        self._truth = truth
        self._scores = (scratch.empty if scratch else np.empty)(truth.shape[::-1], np.float32)
        for column in self._scores:
            column[:] = -np.inf
            release(self._scores)

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores; blocks of labels may come from several threads at once."""
        self._scores[np.ix_(labels, documents)] = scores.T
        release(self._scores)

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
        self._n_scored = np.zeros(truth.shape[0], np.int64)

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores, one call after the other: ties stay with what came first."""
        self._n_scored[documents] += np.count_nonzero(scores > -np.inf, axis=1)
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
        """What was kept; exact where no document had more scores than were kept."""
        n_documents = self._truth.shape[0]
        parts = [self._kept(slice(i, i + ROWS)) for i in range(0, n_documents, ROWS)]
        counts, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        del parts  # as large as what was made of them, and the next step needs as much again
        ends = np.concatenate([[0], np.cumsum(counts)])
        by_document = csr_array((values, columns, ends), shape=self._truth.shape)
        is_exact = bool((self._n_scored <= self._scores.shape[1]).all())
        return HeldOut.of(by_document, self._truth, is_exact=is_exact)

    def _kept(self, rows: slice) -> tuple[Any, Any, Any]:
        """Of some documents: how many pairs each has, their labels and scores."""
        best, n_labels = self._scores[rows], self._truth.shape[1]
        starts = self._truth.indptr[rows.start : rows.start + len(best) + 1]
        true = slice(starts[0], starts[-1])
        true_keys = np.repeat(np.arange(len(best)), np.diff(starts)).astype(np.int64) * n_labels
        true_keys += self._truth.indices[true]
        own_keys = np.arange(len(best))[:, None] * n_labels + self._labels[rows]
        kept = (best > -np.inf) & ~np.isin(own_keys, true_keys)  # true pairs are kept apart
        scored = self._true[true] > -np.inf
        keys = np.concatenate([own_keys[kept], true_keys[scored]])
        order = np.argsort(keys)
        values = np.concatenate([best[kept], self._true[true][scored]])[order]
        documents, labels = np.divmod(keys[order], n_labels)
        return np.bincount(documents, minlength=len(best)), labels.astype(np.int32), values
