"""Folds in which every label is spread evenly: iterative stratification (Sechidis et al. 2011)."""

from array import array
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Truth
from app.errors import InvalidRequestError
from app.folds import Folds


def stratified_folds(truth: Truth, n_folds: int, seed: int) -> Folds:
    """Every document in one of n_folds parts.

    The label with the fewest documents left goes first; each of them goes to the fold that lacks
    that label most, then to the one that lacks documents most, then to a random one. A label with
    fewer positives than folds is therefore in as many folds as it has positives.
    """
    n_documents = truth.shape[0]
    if not 2 <= n_folds <= max(n_documents, 2):
        problem = f"{n_folds} folds of {n_documents} documents; accepted: 2 to the documents there"
        raise InvalidRequestError(problem)
    return Folds(_Stratifier(truth, n_folds, seed).folds())


class _Stratifier:
    """The counts that iterative stratification keeps while it deals out documents."""

    def __init__(self, truth: Truth, n_folds: int, seed: int) -> None:
        n_documents = truth.shape[0]
        self.order = np.random.default_rng(seed).permutation(n_documents)
        shuffled = csr_array(truth)[self.order]
        by_label = csc_array(shuffled)
        self.labels_of = _Slices(shuffled)
        self.documents_of = _Slices(by_label)
        self.left: list[int] = np.diff(by_label.indptr).tolist()
        self.wanted = [[count / n_folds] * n_folds for count in self.left]
        self.room = [n_documents / n_folds] * n_folds
        self.fold = array("i", [-1]) * n_documents
        self.n_folds = n_folds

    def folds(self) -> NDArray[np.int32]:
        self._deal_labelled()
        for document, fold in enumerate(self.fold):
            if fold < 0:
                self._assign(document, max(range(self.n_folds), key=self.room.__getitem__))
        result = np.empty(len(self.fold), np.int32)
        result[self.order] = np.frombuffer(self.fold, np.intc)
        return result

    def _deal_labelled(self) -> None:
        heap = [(count, label) for label, count in enumerate(self.left) if count]
        heapify(heap)
        while heap:
            count, label = heappop(heap)
            if count != self.left[label]:
                continue  # dealt out meanwhile; its newer entry is in the heap
            for other in self._deal(label):
                if self.left[other]:
                    heappush(heap, (self.left[other], other))

    def _deal(self, label: int) -> set[int]:
        touched: set[int] = set()
        wanted, room = self.wanted[label], self.room
        for document in self.documents_of[label]:
            if self.fold[document] < 0:
                # Rotated, so that full ties do not always go to the first fold; the documents are
                # in random order already.
                start = document % self.n_folds
                rotated = [(start + i) % self.n_folds for i in range(self.n_folds)]
                self._assign(document, max(rotated, key=lambda f: (wanted[f], room[f])))
                touched.update(self.labels_of[document])
        return touched

    def _assign(self, document: int, fold: int) -> None:
        self.fold[document] = fold
        self.room[fold] -= 1
        for label in self.labels_of[document]:
            self.wanted[label][fold] -= 1
            self.left[label] -= 1


class _Slices:
    """The column numbers of each row, or the row numbers of each column.

    Views of the matrix's own array: a list of Python numbers for each document would take more
    memory than its features.
    """

    def __init__(self, matrix: Truth) -> None:
        self._numbers = np.ascontiguousarray(matrix.indices).data
        self._starts = np.ascontiguousarray(matrix.indptr).data

    def __getitem__(self, place: int) -> Iterable[int]:
        return self._numbers[self._starts[place] : self._starts[place + 1]]
