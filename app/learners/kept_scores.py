"""KeptScores: out-of-fold scores as they come in, all of them, or each document's best and true."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array

from app.arrays import Scores, Truth
from app.heldout import HeldOut
from app.kernels import kernels

DENSE_CELLS = 200_000_000
"""Up to so many pairs of document and label are all kept: 800 MB."""
BEST = 300


class KeptScores(Protocol):
    """Takes scores of some documents and labels; no pair comes twice."""

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores (documents, labels)."""
        ...

    def held_out(self) -> HeldOut:
        """All that was kept, with the truth."""
        ...


def kept_scores(truth: Truth, *, dense_cells: int = DENSE_CELLS, best: int = BEST) -> KeptScores:
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
        self._truth, self._by_label = truth, csc_array(truth)
        self._true = np.full(self._by_label.nnz, -np.inf, np.float32)
        self._scores = np.full((truth.shape[0], best), -np.inf, np.float32)
        self._labels = np.zeros((truth.shape[0], best), np.int32)
        self._place = np.empty(truth.shape[0], np.int64)

    def put(self, documents: NDArray[Any], labels: NDArray[Any], scores: Scores) -> None:
        """Take scores, one call after the other: ties stay with what came first."""
        self._place[documents] = np.arange(len(documents))
        is_here = np.zeros(len(self._place), np.bool_)
        is_here[documents] = True
        for column, label in enumerate(labels):
            span = slice(self._by_label.indptr[label], self._by_label.indptr[label + 1])
            rows = self._by_label.indices[span]
            found = scores[self._place[rows[is_here[rows]]], column]
            self._true[span][is_here[rows]] = found
        kernels("best_scores").keep_best(
            np.ascontiguousarray(scores, np.float32),
            np.asarray(documents, np.int64),
            np.asarray(labels, np.int32),
            self._scores,
            self._labels,
        )

    def held_out(self) -> HeldOut:
        """What was kept; a cut below a document's worst kept score is not exact."""
        n_documents, n_labels = self._truth.shape
        found = self._scores > -np.inf
        rows = np.repeat(np.arange(n_documents, dtype=np.int32), found.sum(axis=1))
        by_label = self._by_label
        true_labels = np.repeat(np.arange(n_labels, dtype=np.int32), np.diff(by_label.indptr))
        keys = np.concatenate(
            [
                rows.astype(np.int64) * n_labels + self._labels[found],
                by_label.indices.astype(np.int64) * n_labels + true_labels,
            ]
        )
        keys, first = np.unique(keys, return_index=True)
        values = np.concatenate([self._scores[found], self._true])[first]
        pairs = (keys // n_labels, keys % n_labels)
        scores = csc_array(coo_array((values, pairs), shape=self._truth.shape))
        return HeldOut.of(scores, self._truth, is_exact=False)
