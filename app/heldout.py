"""HeldOut: scores of documents by models that never saw them, beside the truth, label by label."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from app.arrays import Marks, Truth


class Column(NamedTuple):
    """One label's scored documents, and how many documents carry the label at all."""

    scores: NDArray[np.float32]
    marks: NDArray[np.bool_]
    positives: int


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out scores, dense, or sparse where only each document's best (and true) labels are kept.

    In the sparse form a pair that is not stored was never scored: it can never be decided, and a
    cut below the scores that were kept is then not exact (`is_exact` is False).
    """

    scores: Any
    truth: Truth
    is_exact: bool = True

    @classmethod
    def of(cls, scores: Any, truth: Truth, *, is_exact: bool = True) -> "HeldOut":
        """Held-out scores ready to be read by label."""
        by_label = csc_array(scores) if issparse(scores) else np.asarray(scores, np.float32)
        return cls(by_label, csc_array(truth), is_exact)

    @property
    def n_documents(self) -> int:
        """How many documents were scored."""
        return int(self.truth.shape[0])

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.truth.shape[1])

    def column(self, label: int) -> Column:
        """One label's scores and marks; documents without a finite score are left out."""
        rows = self.truth.indices[self.truth.indptr[label] : self.truth.indptr[label + 1]]
        marks: Marks = np.zeros(self.n_documents, dtype=np.bool_)
        marks[rows] = True
        if issparse(self.scores):
            span = slice(self.scores.indptr[label], self.scores.indptr[label + 1])
            scores, marks = self.scores.data[span], marks[self.scores.indices[span]]
        else:
            scores = self.scores[:, label]
        scored = scores > -np.inf
        return Column(scores[scored], marks[scored], len(rows))
