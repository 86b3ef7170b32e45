"""LabelWeights: one linear score per label, the weights stored by feature, sparse or dense."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores
from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.csr_rows import CsrRows
from app.kernels.linear.quantized_weights import quantized
from app.kernels.linear.types import LinearArrays
from app.learners.base import Contributions
from app.learners.ordered_map import for_parts

DENSE_BYTES = 64 * 2**20
DENSE_SHARE = 1 / 8
"""A dense row is streamed, a sparse one scattered: below this share of non-zeros it is slower."""
ROWS_A_TASK = 256


@dataclass(frozen=True, slots=True)
class LabelWeights:
    """Weights (features, labels) and a bias per label, float32.

    As they are on disk: `bias`, and `weights` if dense, else `starts`, `labels`, `values`:
    the weights of feature f stand from starts[f] to starts[f + 1]. Weights that may be rounded
    have `gaps`, `codes` and `levels` in place of the latter two (quantized_weights.py).
    """

    stored: dict[str, NDArray[Any]]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays; refused where nothing has been learnt."""
        if not self.stored:
            raise InvalidRequestError("this learner has not been fitted")
        return self.stored

    @classmethod
    def unfitted(cls) -> Self:
        """What a learner has before it is fitted."""
        return cls({})

    @classmethod
    def of(cls, weights: csr_array, bias: NDArray[np.float32], *, rounded: bool = False) -> Self:
        """The layout that serves faster; dense only within its memory bound."""
        n_features, n_labels = weights.shape
        cells = n_features * n_labels
        if cells * 4 <= DENSE_BYTES and weights.nnz >= cells * DENSE_SHARE:
            return cls({"weights": weights.toarray(), "bias": bias})
        packed = quantized(weights.indptr, weights.indices, weights.data) if rounded else None
        if packed is not None:
            return cls({**packed._asdict(), "starts": _short(packed.starts), "bias": bias})
        labels = weights.indices.astype(np.uint16 if n_labels <= 2**16 else np.int32)
        starts = _short(weights.indptr)
        return cls({"starts": starts, "labels": labels, "values": weights.data, "bias": bias})

    @property
    def bias(self) -> NDArray[np.float32]:
        """The score of every label for a document without a known feature."""
        return self.arrays["bias"]

    @property
    def n_features(self) -> int:
        """How many features the weights are for."""
        if "weights" in self.arrays:
            return len(self.arrays["weights"])
        return len(self.arrays["starts"]) - 1

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Weights times features plus bias, for every document and label."""
        scores = np.empty((features.shape[0], len(self.bias)), np.float32)
        rows, bias = CsrRows.of(features), read_only(self.bias)
        score, weights = self._kernel()

        def fill(some: slice) -> None:
            score(rows.at(some), weights, bias, scores[some])

        for_parts(fill, len(scores), ROWS_A_TASK, jobs)
        return scores

    def linear(self) -> LinearArrays:
        """The arrays as kernels read them."""
        return LinearArrays.of(self.arrays)

    def matrix(self) -> csr_array:
        """The weights (features, labels)."""
        return self.linear().matrix()

    def _kernel(self) -> tuple[Any, Any]:
        kernel, linear = kernels("linear.csr_scores"), self.linear()
        if len(linear.dense):
            return kernel.dense_scores, read_only(linear.dense)
        parts: list[NDArray[Any]] = [linear.starts, linear.labels, linear.values]
        if linear.is_quantized:
            parts = [linear.starts, linear.gaps, linear.codes, linear.levels]
        score = kernel.quantized_scores if linear.is_quantized else kernel.sparse_scores
        return score, tuple(map(read_only, parts))

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions]:
        """What each feature adds to each label's score: its weight times its value."""
        return [
            Contributions(self.of_label(columns, label) * values, float(self.bias[label]))
            for label in labels
        ]

    def of_label(self, columns: NDArray[Any], label: int) -> NDArray[np.float32]:
        """This label's weights of some features."""
        if "weights" in self.arrays:
            return np.asarray(self.arrays["weights"][columns, label], np.float32)
        weights = np.zeros(len(columns), np.float32)
        for position, column in enumerate(columns):
            labels, values = self._row(column)
            weights[position] = values[labels == label].sum()
        return weights

    def _row(self, feature: int) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """The labels of one feature, and their weights."""
        starts = self.arrays["starts"]
        span = slice(starts[feature], starts[feature + 1])
        if "levels" in self.arrays:
            labels = np.cumsum(self.arrays["gaps"][span], dtype=np.int64)
            return labels, self.arrays["levels"][self.arrays["codes"][span]]
        return self.arrays["labels"][span], self.arrays["values"][span]


def _short(starts: NDArray[Any]) -> NDArray[Any]:
    """In four bytes each, unless there are more weights than that."""
    return starts.astype(np.uint32 if starts[-1] < 2**32 else np.int64)
