"""Sets of documents as bits, 64 to a word, and the terms of a label worth looking at."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from app.arrays import Features, Truth

Bits = NDArray[np.uint64]
"""(…, words): bit d of the last axis says whether document d is in the set."""


def bits_of(members: NDArray[np.bool_]) -> Bits:
    """Sets given as marks (…, documents), as bits."""
    padded = np.zeros((*members.shape[:-1], -(-members.shape[-1] // 64) * 64), np.bool_)
    padded[..., : members.shape[-1]] = members
    return np.packbits(padded, axis=-1, bitorder="little").view(np.uint64)


def sizes(sets: Bits) -> NDArray[np.int64]:
    """How many documents each set has.

    >>> sizes(bits_of(np.array([[True, False, True], [False, False, False]]))).tolist()
    [2, 0]
    """
    counts: NDArray[np.int64] = np.bitwise_count(sets).sum(axis=-1, dtype=np.int64)
    return counts


@dataclass(frozen=True, slots=True)
class Candidates:
    """Terms that a label's tree or rules may ask for: their columns and their documents."""

    columns: NDArray[np.int64]
    documents: Bits


@dataclass(frozen=True, slots=True)
class TermPresence:
    """In which documents terms and labels are, and how often together."""

    by_term: Any
    """csc_array (documents, terms)."""
    by_label: Any
    """csc_array (documents, labels)."""
    together: Any
    """csc_array (terms, labels): in how many documents both are."""

    @classmethod
    def of(cls, features: Features, truth: Truth) -> "TermPresence":
        """Presence is a value that is not 0."""
        present = features.astype(np.bool_).astype(np.float64)
        together = csc_array(present.T @ truth.astype(np.float64))
        return cls(csc_array(present), csc_array(truth), together)

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return int(self.by_term.shape[0])

    def documents_with(self, label: int) -> NDArray[np.int64]:
        """The documents that have a label."""
        span = slice(self.by_label.indptr[label], self.by_label.indptr[label + 1])
        return np.asarray(self.by_label.indices[span], np.int64)

    def marks(self, label: int) -> NDArray[np.bool_]:
        """Which documents have a label."""
        members = np.zeros(self.n_documents, np.bool_)
        members[self.documents_with(label)] = True
        return members

    def candidates(self, label: int, n_terms: int) -> Candidates:
        """The `n_terms` terms of highest information gain; ties go to the lower column."""
        span = slice(self.together.indptr[label], self.together.indptr[label + 1])
        both = np.zeros(self.by_term.shape[1])
        both[self.together.indices[span]] = self.together.data[span]
        holding = np.diff(self.by_term.indptr).astype(np.float64)
        n_positive = float(len(self.documents_with(label)))
        gain = information_gain(both, holding, n_positive, float(self.n_documents))
        columns = np.sort(np.argsort(-gain, kind="stable")[:n_terms])
        return Candidates(columns, bits_of(self._holding(columns)))

    def _holding(self, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        members = np.zeros((len(columns), self.n_documents), np.bool_)
        for row, column in enumerate(columns):
            span = slice(self.by_term.indptr[column], self.by_term.indptr[column + 1])
            members[row, self.by_term.indices[span]] = True
        return members


def information_gain(
    both: NDArray[Any], holding: NDArray[Any], n_positive: float, n: float
) -> NDArray[np.float64]:
    """Bits of the label that are known once it is known whether a term is there.

    `both` of `holding` documents with the term have the label, `n_positive` of all `n`.

    >>> information_gain(np.array([2.0, 1.0]), np.array([2.0, 2.0]), 2, 4).round(3).tolist()
    [1.0, 0.0]
    """
    others = np.maximum(n - holding, 0.0)
    with_term = holding / n * _entropy(both, holding)
    without = others / n * _entropy(n_positive - both, others)
    return np.asarray(_entropy(np.array(n_positive), np.array(n)) - with_term - without)


def _entropy(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Of a yes that `part` of `whole` give, in bits; 0 for an empty whole."""
    share = np.clip(part / np.where(whole > 0, whole, 1.0), 0.0, 1.0)
    total = np.zeros(np.shape(share))
    for p in (share, 1.0 - share):
        total -= np.where(p > 0, p * np.log2(np.where(p > 0, p, 1.0)), 0.0)
    return total
