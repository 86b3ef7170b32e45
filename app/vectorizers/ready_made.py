"""Features that come ready-made in the file (svmlight): nothing is learned but their number."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from app.arrays import Features
from app.kernels.text.analysis import Analysis
from app.progress import Progress, silent
from app.state import State
from app.vectorizers.base import Vectorizer


class ReadyMade(Vectorizer):
    """Passes feature rows on, with as many columns as there were in training.

    A document is a pair (column numbers, values), or the whole collection is one sparse matrix.
    Columns beyond those of training are left out, missing ones are empty.
    """

    kind: ClassVar[str] = "ready-made"

    def __init__(self, *, n_features: int = 0) -> None:
        self._n_features = n_features

    @property
    def n_features(self) -> int:
        """How many columns `transform` gives."""
        return self._n_features

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Take the number of columns from these rows, and give the rows."""
        rows = _matrix(documents)
        self._n_features = rows.shape[1]
        return rows

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """The rows, cut or padded to the columns of training."""
        rows = _matrix(documents)
        if rows.shape[1] > self._n_features:
            return csr_array(rows[:, : self._n_features])
        rows.resize(rows.shape[0], self._n_features)
        return rows

    def word_analysis(self) -> Analysis | None:
        """None: features have no words."""
        return None

    def terms(self) -> Sequence[str]:
        """Column numbers, from 0."""
        return [str(column) for column in range(self._n_features)]

    def state(self) -> State:
        """The number of columns."""
        return State(self.kind, {"n_features": self._n_features})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal one again."""
        return cls(n_features=int(state.settings["n_features"]))


def _matrix(documents: Any) -> Features:
    """Any of the accepted forms as csr_array of float32 with sorted columns."""
    if not issparse(documents):
        documents = _stacked(documents)
    rows = csr_array(documents, dtype=np.float32, copy=True)
    rows.sum_duplicates()
    return rows


def _stacked(documents: Sequence[Any]) -> Features:
    """(columns, values) pairs, or one-row sparse matrices, as one matrix."""
    pairs = [(row.indices, row.data) if issparse(row) else row for row in documents]
    indptr = np.cumsum([0, *(len(columns) for columns, _ in pairs)])
    columns = np.concatenate([np.zeros(0, np.int64), *(np.asarray(c, np.int64) for c, _ in pairs)])
    values = np.concatenate([np.zeros(0, np.float32), *(np.asarray(v) for _, v in pairs)])
    width = int(columns.max()) + 1 if len(columns) else 0
    return csr_array((values.astype(np.float32), columns, indptr), shape=(len(pairs), width))
