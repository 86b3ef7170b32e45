"""Label sets as the matrices of scikit-learn, a row a document and a column a label, and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from app.labels import LabelIndex
from labelserve.documents import DataTable, checked_label_sets

Indicators: TypeAlias = Any
"""A matrix of 0 and 1: an array, a sparse matrix or array, or a table of such columns."""


@dataclass(frozen=True, slots=True)
class TargetForm:
    """How the labels were given to `fit`, so that `predict` gives them in the same form.

    `classes` are the labels' names, or the numbers of a matrix' columns; `names` are what the
    model calls them.
    """

    classes: NDArray[Any]
    names: tuple[str, ...]
    dtype: Any = None
    """Of a matrix; None for label sets."""
    is_sparse: bool = False

    @classmethod
    def of(cls, target: Any) -> "TargetForm":
        """The form of a matrix, or of a list of label sets."""
        if not is_matrix(target):
            names = LabelIndex.of(checked_label_sets(target)).names
            return cls(np.array(names, dtype=object), names)
        matrix = target if issparse(target) else np.asarray(target)
        columns = range(matrix.shape[1])
        return cls(
            np.arange(len(columns)), tuple(map(str, columns)), matrix.dtype, issparse(target)
        )

    def label_sets(self, target: Any) -> list[list[str]]:
        """The names of each document's labels."""
        if not is_matrix(target):
            return list(checked_label_sets(target))
        rows = _checked(target)
        if rows.shape[1] != len(self.names):
            raise ValueError(f"there are {rows.shape[1]} columns of labels, not {len(self.names)}")
        spans = zip(rows.indptr, rows.indptr[1:], strict=False)
        return [[self.names[column] for column in rows.indices[a:b]] for a, b in spans]

    def given_back(self, label_sets: Sequence[Sequence[str]]) -> Any:
        """Label sets in the form of the target: a matrix of its type, or tuples of names."""
        if self.dtype is None:
            return [tuple(labels) for labels in label_sets]
        matrix = self.matrix(label_sets).astype(self.dtype)
        return matrix if self.is_sparse else matrix.toarray()

    def matrix(self, label_sets: Iterable[Iterable[str]]) -> Any:
        """Label sets as a sparse matrix of bool, a column a class."""
        return LabelIndex(self.names).truth(label_sets)

    def columns_of(self, names: Sequence[str]) -> NDArray[np.intp]:
        """The columns of a model's labels among the classes."""
        columns = LabelIndex(self.names).columns
        return np.array([columns[name] for name in names], dtype=np.intp)


def is_matrix(target: Any) -> bool:
    """Whether labels came as a matrix or table of columns, and not as label sets."""
    if issparse(target) or isinstance(target, DataTable):
        return True
    return isinstance(target, np.ndarray) and target.ndim == 2 and target.dtype != object


def _checked(target: Any) -> csr_array:
    """The places of the ones; a matrix of anything but 0 and 1 is a ValueError."""
    rows = csr_array(target if issparse(target) else np.asarray(target))
    rows.eliminate_zeros()
    if not np.isin(rows.data, (0, 1)).all():
        raise ValueError("a matrix of labels has 1 where a document has a label, and 0 elsewhere")
    return rows
