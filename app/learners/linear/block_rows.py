"""BlockRows: documents in the form the block solver reads, and the way back to all features."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, occurrences, row_chunks
from app.kernels.solver.types import SolverRows
from app.resources.scratch import ScratchFolder, release

ROW_ARRAYS = SolverRows._fields[:-1]
SINGLETON_ARRAYS = ("features", "documents", "values")


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
    is_shared: NDArray[np.bool_]
    """Whether each feature is in the rows."""

    @classmethod
    def of(cls, features: Features, bias: float | None) -> "BlockRows":
        """The rows of a feature matrix, with the bias feature's value (None: no bias)."""
        n_documents, n_features = features.shape
        counts = occurrences(features.indices, n_features)
        shared = np.flatnonzero(counts > 1)
        kept = shared[np.argsort(-counts[shared], kind="stable")]
        new_columns = np.full(n_features, -1, np.int32)
        new_columns[kept] = np.arange(len(kept), dtype=np.int32)
        n_kept = int(counts[kept].sum())
        columns, values = np.empty(n_kept, np.int32), np.empty(n_kept, np.float32)
        starts = np.zeros(n_documents + 1, np.int64)
        norms, at = np.empty(n_documents, np.float32), 0
        singles = [(features.indices[:0], np.empty(0, np.int32), features.data[:0])]
        for chunk in row_chunks(features.indptr):
            indices, data = features.indices[chunk.entries], features.data[chunk.entries]
            renumbered = new_columns[indices]
            stays, row_of = renumbered >= 0, chunk.row_of()
            n_stays = np.bincount(row_of[stays], minlength=len(chunk.sizes))
            end = at + int(n_stays.sum())
            columns[at:end], values[at:end] = renumbered[stays], data[stays]
            starts[chunk.rows.start + 1 : chunk.rows.stop + 1] = at + np.cumsum(n_stays)
            norms[chunk.rows] = _squares(row_of, data, len(chunk.sizes))
            single_of = (row_of[~stays] + chunk.rows.start).astype(np.int32)
            singles.append((indices[~stays], single_of, data[~stays]))
            at = end
            release(features.indices, features.data)
        singletons = SingletonFeatures(*map(np.concatenate, zip(*singles, strict=True)))
        value = _bias(bias)
        single_norms = _squares(singletons.documents, singletons.values, n_documents)
        rows = SolverRows(starts, columns, values, single_norms, norms + value * value, value)
        return cls(rows, kept, singletons, counts > 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything but the bias, for other processes."""
        return {
            **{name: getattr(self.rows, name) for name in ROW_ARRAYS},
            "kept": self.kept,
            **{f"singleton_{name}": getattr(self.singletons, name) for name in SINGLETON_ARRAYS},
        }

    @classmethod
    def of_arrays(
        cls, arrays: dict[str, NDArray[Any]], bias: float | None, n_features: int
    ) -> "BlockRows":
        """The rows of `arrays` again, on these arrays."""
        rows = SolverRows(**{name: writable(arrays[name]) for name in ROW_ARRAYS}, bias=_bias(bias))
        singletons = SingletonFeatures(*(arrays[f"singleton_{name}"] for name in SINGLETON_ARRAYS))
        is_shared = np.zeros(n_features, np.bool_)
        is_shared[arrays["kept"]] = True
        return cls(rows, arrays["kept"], singletons, is_shared)

    def with_values(self, features: Features, scratch: ScratchFolder | None = None) -> SolverRows:
        """The rows with the values of another matrix that has the same places stored.

        In a file where there is a folder for it: they are read far less often than the rows.
        """
        n_kept, at = len(self.rows.values), 0
        values = (scratch.empty if scratch else np.empty)((n_kept,), np.float32)
        for chunk in row_chunks(features.indptr):
            own = features.data[chunk.entries][self.is_shared[features.indices[chunk.entries]]]
            values[at : at + len(own)] = own
            at += len(own)
            release(features.indices, features.data, values)
        return self.rows._replace(values=values)


class FoldRows(NamedTuple):
    """Documents to learn from, and as models see them that were fitted without them."""

    documents: BlockRows
    held_out: SolverRows

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Those of the documents, and held-out values where they differ."""
        own, held_out = self.documents.rows.values, self.held_out.values
        differing = {} if np.array_equal(own, held_out) else {"held_out_values": held_out}
        return self.documents.arrays() | differing

    @classmethod
    def of_arrays(
        cls, arrays: dict[str, NDArray[Any]], bias: float | None, n_features: int
    ) -> "FoldRows":
        """The rows of `arrays` again, on these arrays."""
        documents = BlockRows.of_arrays(arrays, bias, n_features)
        values = writable(arrays.get("held_out_values", documents.rows.values))
        return cls(documents, documents.rows._replace(values=values))


def writable(array: NDArray[Any]) -> NDArray[Any]:
    """The same array as kernels are compiled for it; none of them writes to it."""
    view = array.view()
    view.flags.writeable = True
    return view


def _bias(value: float | None) -> np.float32:
    return np.float32(0 if value is None else value)


def _squares(
    documents: NDArray[Any], values: NDArray[np.float32], n_documents: int
) -> NDArray[np.float32]:
    squares = values.astype(np.float64) ** 2
    return np.bincount(documents, weights=squares, minlength=n_documents).astype(np.float32)
