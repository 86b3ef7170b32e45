"""Fitted tf-idf, linear weights and ranked labels, as arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.kernels.linear.quantized_weights import QuantizedWeights
from app.kernels.text.analysis import Analysis
from app.kernels.vocabulary.vocabulary import Vocabulary


class Weighing(NamedTuple):
    """A fitted tf-idf: text → columns and values."""

    analysis: Analysis
    vocabulary: Vocabulary
    idf: NDArray[np.float64]
    scheme: str
    binary: bool


class Linear(NamedTuple):
    """A bias per label, and weights (features, labels): `dense`, or sparse by feature.

    Feature f has `labels[starts[f]:starts[f + 1]]` with as many `values`, or as many `gaps` with
    `codes` (quantized_weights.py); the arrays of layouts that are not used are empty.
    """

    bias: NDArray[np.float32]
    dense: NDArray[np.float32]
    starts: NDArray[np.int64]
    labels: NDArray[Any]
    values: NDArray[np.float32]
    gaps: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> "Linear":
        """The weights from their arrays on disk, named like the fields; `weights` if dense."""
        bias = arrays["bias"]
        none, no_bytes = bias[:0], np.zeros(0, np.uint8)
        return cls(
            bias,
            arrays.get("weights", np.zeros((0, len(bias)), np.float32)),
            np.asarray(arrays.get("starts", no_bytes), np.int64),
            arrays.get("labels", no_bytes.astype(np.int32)),
            arrays.get("values", none),
            arrays.get("gaps", no_bytes),
            arrays.get("codes", no_bytes),
            arrays.get("levels", none),
        )

    @property
    def is_quantized(self) -> bool:
        """Whether the weights are quantized, and the labels delta-coded."""
        return len(self.levels) > 0

    def entries(self) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """The labels and the weights of all features, one feature after the other."""
        if not self.is_quantized:
            return self.labels, self.values
        packed = QuantizedWeights(self.starts, self.gaps, self.codes, self.levels)
        return packed.labels(), packed.values()

    def fits(self, n_features: int) -> bool:
        """Whether every index in the arrays exists: kernels do not check bounds."""
        n_labels = len(self.bias)
        if len(self.dense):
            return self.dense.shape == (n_features, n_labels)
        if len(self.starts) != n_features + 1 or self.starts[0] != 0:
            return False
        kept, beside = (self.codes, self.gaps) if self.is_quantized else (self.values, self.labels)
        rises = bool(np.all(np.diff(self.starts) >= 0)) and self.starts[-1] == len(kept)
        if not rises or len(kept) != len(beside):
            return False
        if self.is_quantized and self.codes.max(initial=0) >= len(self.levels):
            return False
        return int(self.entries()[0].max(initial=0)) < max(n_labels, 1)


class RankedLabels(NamedTuple):
    """The best labels of each document, and their scores: (documents, k) each."""

    labels: NDArray[np.integer[Any]]
    scores: NDArray[np.float32]
