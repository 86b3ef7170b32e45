"""HeldOut: scores of documents by models that never saw them, beside the truth, label by label."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

BLOCK = 64


class Column(NamedTuple):
    """One label's scored documents, and how many documents carry the label at all."""

    scores: NDArray[np.float32]
    marks: NDArray[np.bool_]
    positives: int
    rows: Any
    """The documents that were looked at: numbers, or a slice of all."""
    is_scored: NDArray[np.bool_]
    """Which of those have a score."""

    @property
    def documents(self) -> NDArray[np.int64]:
        """Which documents the scores are of."""
        if isinstance(self.rows, slice):
            return np.flatnonzero(self.is_scored)
        documents: NDArray[np.int64] = self.rows[self.is_scored]
        return documents


class FewerDocuments(NamedTuple):
    """Scores of some documents and labels by a model of fewer documents.

    Beside the held-out scores of the same pairs they tell what more documents change.
    """

    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    """How many labels each of them stands for."""
    scores: NDArray[np.float32]
    """(rows, labels)."""
    share: float
    """The share of all documents that this model was fitted to."""
    held_out_share: float
    """The share that the models of the held-out scores were fitted to."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out scores, dense, or sparse where only each document's best (and true) labels are kept.

    In the sparse form a pair that is not stored was never scored: it can never be decided, and a
    cut below the scores that were kept is then not exact (`is_exact` is False).
    """

    scores: Any
    """(documents, labels) of float32, an array or a csc_array."""
    truth: Any
    """csc_array (documents, labels) of bool."""
    is_exact: bool = True
    parts: NDArray[np.int32] | None = None
    """The part of every document where each part was scored by a model of its own; else None."""
    fewer: FewerDocuments | None = None

    @classmethod
    def of(
        cls,
        scores: Any,
        truth: Any,
        *,
        is_exact: bool = True,
        parts: NDArray[np.int32] | None = None,
    ) -> "HeldOut":
        """Held-out scores ready to be read by label."""
        by_label = csc_array(scores) if issparse(scores) else np.asarray(scores, np.float32)
        return cls(by_label, csc_array(truth), is_exact, parts)

    def at(self, documents: NDArray[Any]) -> "HeldOut":
        """The scores of these documents alone, in rising order; itself where these are all."""
        if len(documents) == self.n_documents:
            return self
        return HeldOut.of(
            self.scores[documents],
            self.truth[documents],
            is_exact=self.is_exact,
            parts=None if self.parts is None else self.parts[documents],
        )

    def block(self, documents: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float32]:
        """Dense scores of some documents and labels; -inf for pairs that are not stored."""
        scores = self.scores[:, labels][documents]
        if not issparse(scores):
            return np.asarray(scores)
        dense, stored = np.full(scores.shape, -np.inf, np.float32), scores.tocoo()
        dense[stored.row, stored.col] = stored.data
        return dense

    @property
    def n_documents(self) -> int:
        """How many documents were scored."""
        return int(self.truth.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.truth.shape[1])

    def positives(self, label: int) -> NDArray[np.int32]:
        """The documents that carry a label, scored or not."""
        documents: NDArray[np.int32] = self.truth.indices[
            self.truth.indptr[label] : self.truth.indptr[label + 1]
        ]
        return documents

    def column(self, label: int) -> Column:
        """One label's scores and marks; documents without a finite score are left out."""
        if issparse(self.scores):
            span = slice(self.scores.indptr[label], self.scores.indptr[label + 1])
            scores, scored = self.scores.data[span], self.scores.indices[span]
            return self._beside_marks(label, scores, scored)
        return self._beside_marks(label, self.scores[:, label])

    def columns(self) -> Iterator[Column]:
        """Every label's column in turn, faster than one by one."""
        for start in range(0, self.n_labels, BLOCK):
            labels = range(start, min(start + BLOCK, self.n_labels))
            if issparse(self.scores):
                yield from map(self.column, labels)
                continue
            # Copied together, since reading one column of a wide matrix misses the cache each time.
            block = np.ascontiguousarray(self.scores[:, labels.start : labels.stop].T)
            yield from (self._beside_marks(label, block[label - start]) for label in labels)

    def _beside_marks(self, label: int, scores: Any, rows: Any = slice(None)) -> Column:
        positive = self.positives(label)
        marks: NDArray[np.bool_] = np.zeros(self.n_documents, dtype=np.bool_)
        marks[positive] = True
        marks, scored = marks[rows], scores > -np.inf
        return Column(scores[scored], marks[scored], len(positive), rows, scored)
