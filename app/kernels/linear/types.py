"""Fitted tf-idf, linear weights and ranked labels, as arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.kernels.linear.quantized_weights import QuantizedWeights
from app.kernels.text.analysis import Analysis
from app.kernels.text.leads import NO_LEADS, LeadColumns
from app.kernels.vocabulary.vocabulary import Vocabulary

ENTRIES_AT_ONCE = 2**20


class FittedTfidf(NamedTuple):
    """A fitted tf-idf: text → columns and values."""

    analysis: Analysis
    vocabulary: Vocabulary
    idf: NDArray[np.float64]
    scheme: str
    binary: bool
    leads: LeadColumns = NO_LEADS

    @property
    def n_columns(self) -> int:
        """How many columns there are, those of first words included."""
        return len(self.idf)


class FittedPart(NamedTuple):
    """A fitted tf-idf whose columns stand beside others, and what its rows are multiplied with."""

    tfidf: FittedTfidf
    weight: float = 1.0


class LinearArrays(NamedTuple):
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
    def of(cls, arrays: dict[str, NDArray[Any]]) -> "LinearArrays":
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

    def of_label(self, label: int) -> NDArray[np.float32]:
        """This label's weight of every feature; only a million entries are decoded at a time."""
        if len(self.dense):
            return np.array(self.dense[:, label])
        weights = np.zeros(len(self.starts) - 1, np.float32)
        first = 0
        while first < len(weights):
            reach = np.searchsorted(self.starts, self.starts[first] + ENTRIES_AT_ONCE, side="right")
            stop = min(max(int(reach) - 1, first + 1), len(weights))
            part = self.of_features(first, stop, 1.0)
            labels, values = part.entries()
            own = np.flatnonzero(labels == label)
            rows = np.searchsorted(part.starts, own, side="right") - 1
            np.add.at(weights, first + rows, values[own])  # a filler entry may share the label
            first = stop
        return weights

    def matrix(self) -> csr_array:
        """The weights (features, labels), without zeros."""
        if len(self.dense):
            return csr_array(self.dense)
        labels, values = self.entries()
        shape = (len(self.starts) - 1, len(self.bias))
        weights = csr_array((values, labels, self.starts), shape=shape)
        weights.eliminate_zeros()
        return weights

    def of_features(self, first: int, stop: int, scale: float) -> "LinearArrays":
        """The weights of the features from `first` to before `stop`, each times `scale`."""
        factor = np.float32(scale)
        if len(self.dense):
            return self._replace(dense=_scaled(self.dense[first:stop], factor))
        entries = slice(self.starts[first], self.starts[stop])
        return self._replace(
            starts=self.starts[first : stop + 1] - self.starts[first],
            labels=self.labels[entries],
            values=_scaled(self.values[entries], factor),
            gaps=self.gaps[entries],
            codes=self.codes[entries],
            levels=_scaled(self.levels, factor),
        )

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


def _scaled(array: NDArray[np.float32], factor: np.float32) -> NDArray[np.float32]:
    """The array times the factor; not a copy where that is 1, so that it may stay on disk."""
    return array if factor == 1 else array * factor
