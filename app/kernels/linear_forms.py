"""What a text needs on its way to scores: how it is weighed, and the labels' weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.kernels.analysis import Analysis
from app.kernels.vocabulary import Vocabulary


class Weighing(NamedTuple):
    """A fitted tf-idf: text → columns and values."""

    analysis: Analysis
    vocabulary: Vocabulary
    idf: NDArray[np.float64]
    scheme: str
    binary: bool


class Linear(NamedTuple):
    """A bias per label, and weights (features, labels): either `dense`, or sparse by feature.

    Feature i has `labels[starts[i]:starts[i + 1]]` with as many `values`; the arrays of the form
    that is not used are empty.
    """

    bias: NDArray[np.float32]
    dense: NDArray[np.float32]
    starts: NDArray[np.int64]
    labels: NDArray[Any]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> "Linear":
        """The weights from their arrays on disk: `weights`, or `starts`, `labels` and `values`."""
        bias = arrays["bias"]
        if "weights" in arrays:
            nothing = np.zeros(0, np.int64)
            return cls(bias, arrays["weights"], nothing, nothing.astype(np.int32), bias[:0])
        dense = np.zeros((0, len(bias)), np.float32)
        return cls(bias, dense, arrays["starts"], arrays["labels"], arrays["values"])

    def fits(self, n_features: int) -> bool:
        """Whether every place named in the arrays exists: kernels do not look again."""
        n_labels = len(self.bias)
        if len(self.dense):
            return self.dense.shape == (n_features, n_labels)
        if len(self.starts) != n_features + 1 or self.starts[0] != 0:
            return False
        n_weights = len(self.values)
        rises = bool(np.all(np.diff(self.starts) >= 0)) and self.starts[-1] == n_weights
        highest = int(self.labels.max(initial=0))
        return rises and len(self.labels) == n_weights and 0 <= highest < max(n_labels, 1)


class Ranked(NamedTuple):
    """The best labels of each document, and their scores: (documents, k) each."""

    labels: NDArray[np.integer[Any]]
    scores: NDArray[np.float32]
