"""LabelWeights: one linear score per label, stored by feature, sparse or dense."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores

DENSE_BYTES = 64 * 2**20
DENSE_SHARE = 1 / 8
"""A dense row is streamed, a sparse one scattered: below this share of non-zeros it is slower."""


@dataclass(frozen=True, slots=True)
class LabelWeights:
    """Weights (features, labels), a csr_array or a dense array, float32, and a bias per label."""

    weights: Any
    bias: NDArray[np.float32]

    @classmethod
    def of(cls, weights: csr_array, bias: NDArray[np.float32]) -> Self:
        """The layout that serves faster; dense only within its memory bound."""
        cells = weights.shape[0] * weights.shape[1]
        if cells * 4 <= DENSE_BYTES and weights.nnz >= cells * DENSE_SHARE:
            return cls(weights.toarray(), bias)
        return cls(weights, bias)

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Weights times features plus bias, for every document and label."""
        product = features @ self.weights
        dense = product if isinstance(product, np.ndarray) else product.toarray()
        return np.asarray(dense + self.bias, dtype=np.float32)

    def of_label(self, columns: NDArray[Any], label: int) -> NDArray[np.float32]:
        """This label's weights of some features."""
        picked = self.weights[columns][:, [label]]
        dense = picked if isinstance(picked, np.ndarray) else picked.toarray()
        return np.asarray(dense, np.float32).ravel()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What goes on disk; label numbers in 16 bits where they fit."""
        if isinstance(self.weights, np.ndarray):
            return {"weights": self.weights, "bias": self.bias}
        labels = np.uint16 if len(self.bias) <= 2**16 else np.int32
        return {
            "starts": self.weights.indptr.astype(np.int64),
            "labels": self.weights.indices.astype(labels),
            "values": self.weights.data,
            "bias": self.bias,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Equal weights again."""
        bias = arrays["bias"]
        if "weights" in arrays:
            return cls(arrays["weights"], bias)
        starts = arrays["starts"]
        parts = (arrays["values"], arrays["labels"].astype(np.int32), starts)
        return cls(csr_array(parts, shape=(len(starts) - 1, len(bias))), bias)
