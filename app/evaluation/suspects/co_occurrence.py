"""CoOccurrence: which labels are given together more often, or more seldom, than by chance."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Truth
from app.evaluation.suspects.label_pairs import LabelPairs

IMAGINED = 5.0
"""Documents with both labels, observed as expected, that every pair of labels starts from."""
LOOKUPS = 50_000
"""Pairs of labels that are looked up at once: some megabytes."""


@dataclass(frozen=True)
class CoOccurrence:
    """For all pairs of labels that share a document, how many they share; sparse."""

    keys: NDArray[np.int64]
    """Rising: first label · number of labels + second label."""
    together: NDArray[np.int64]
    documents: NDArray[np.int64]
    """(labels,): how many documents have each."""
    labels_of_documents: NDArray[np.int64]
    """(documents,): how many labels each has."""

    @property
    def n_documents(self) -> int:
        """How many documents were counted."""
        return len(self.labels_of_documents)

    @classmethod
    def of(cls, truth: Truth) -> Self:
        """Count the labels of a data set."""
        given = csr_array(truth, dtype=np.int64)
        shared = csr_array(given.T @ given).tocoo()
        keys = shared.row.astype(np.int64) * given.shape[1] + shared.col
        order = np.argsort(keys)
        counts = np.asarray(given.sum(axis=0), np.int64).ravel()
        together = shared.data[order].astype(np.int64)
        return cls(keys[order], together, counts, np.diff(given.indptr).astype(np.int64))

    def lift(
        self, one: NDArray[np.int32], other: NDArray[np.int32], less: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """log of observed by expected common documents, both raised by `IMAGINED`.

        Where `less`, one document is taken off what was observed: none speaks for itself.
        """
        wanted = one.astype(np.int64) * len(self.documents) + other
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        observed = np.where(self.keys[at] == wanted, self.together[at], 0) - less
        expected = self.documents[one] * self.documents[other] / self.n_documents
        return np.asarray(np.log((observed + IMAGINED) / (expected + IMAGINED)))

    def mean_lifts(self, pairs: LabelPairs) -> NDArray[np.float64]:
        """For each pair the lift by the document's other given labels, weighted by probability.

        The weights' sum counts as at least 1: a few unlikely labels say little.
        """
        given = np.flatnonzero(pairs.is_given)
        starts = np.searchsorted(pairs.document[given], np.arange(pairs.n_documents + 1))
        company = np.diff(starts)[pairs.document]
        lifts = np.zeros(len(company))
        for block in _blocks(company):
            lifts[block] = self._block_lifts(pairs, block, given, starts)
        return lifts

    def _block_lifts(
        self, pairs: LabelPairs, block: slice, given: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        document = pairs.document[block]
        counts = starts[document + 1] - starts[document]
        pair = np.repeat(np.arange(len(document)), counts)
        # Every pair beside each given label of its document: the next given one, count times.
        within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
        other = given[starts[document][pair] + within]
        is_other = other != pair + block.start
        pair, other = pair[is_other], other[is_other]
        own = pair + block.start
        lift = self.lift(pairs.label[own], pairs.label[other], pairs.is_given[own])
        weight = pairs.probability[other].astype(np.float64)
        total = np.bincount(pair, weight * lift, len(document))
        return np.asarray(total / np.maximum(np.bincount(pair, weight, len(document)), 1))


def _blocks(sizes: NDArray[np.int64]) -> list[slice]:
    """Consecutive ranges whose sizes add up to at most `LOOKUPS`, or that have one element."""
    ends = np.cumsum(sizes)
    blocks, start = [], 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + LOOKUPS, side="right")), start + 1)
        blocks.append(slice(start, stop))
        start = stop
    return blocks
