"""BlockRows: documents in the form the block solver reads, and the way back to all features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features
from app.kernels.solver.types import SolverRows


@dataclass(frozen=True, slots=True)
class SingletonFeatures:
    """The features that stand in one document only: column, that document, and its value."""

    features: NDArray[Any]
    documents: NDArray[Any]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BlockRows:
    """Rows over the features of two or more documents, most frequent first: the columns `kept`.

    Numbered by falling frequency, the weights that are used most lie side by side in the cache.
    """

    rows: SolverRows
    kept: NDArray[Any]
    singletons: SingletonFeatures
    is_kept: NDArray[np.bool_]
    """Whether each stored entry of the feature matrix is in the rows."""

    @classmethod
    def of(cls, features: Features, bias: float | None) -> "BlockRows":
        """The rows of a feature matrix, with the bias feature's value (None: no bias)."""
        n_documents, n_features = features.shape
        counts = np.bincount(features.indices, minlength=n_features)
        shared = np.flatnonzero(counts > 1)
        kept = shared[np.argsort(-counts[shared], kind="stable")]
        new_columns = np.full(n_features, -1, np.int32)
        new_columns[kept] = np.arange(len(kept), dtype=np.int32)
        columns = new_columns[features.indices]
        is_kept = columns >= 0
        documents = np.repeat(np.arange(n_documents, dtype=np.int32), np.diff(features.indptr))
        singletons = SingletonFeatures(
            features.indices[~is_kept], documents[~is_kept], features.data[~is_kept]
        )
        value = np.float32(0 if bias is None else bias)
        rows = SolverRows(
            np.concatenate([[0], np.cumsum(is_kept)])[features.indptr].astype(np.int64),
            columns[is_kept],
            features.data[is_kept].astype(np.float32),
            _squares(singletons.documents, singletons.values, n_documents),
            _squares(documents, features.data, n_documents) + value * value,
            value,
        )
        return cls(rows, kept, singletons, is_kept)

    def with_values(self, features: Features) -> SolverRows:
        """The rows with the values of another matrix that has the same places stored."""
        return self.rows._replace(values=features.data[self.is_kept].astype(np.float32))


def _squares(
    documents: NDArray[Any], values: NDArray[np.float32], n_documents: int
) -> NDArray[np.float32]:
    squares = values.astype(np.float64) ** 2
    return np.bincount(documents, weights=squares, minlength=n_documents).astype(np.float32)
