"""The array table of tf-idf and linear weights, with dense rows for the features of many labels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import Matrix
from app.kernels.linear.types import Linear

HOT_SHARE, HOT_BYTES = 1 / 4, 8 * 2**20
"""A feature with weights for more than this share of labels is hot, within so much memory."""


class Weights(NamedTuple):
    """Linear weights in one of four layouts; the arrays of the others are empty.

    A matrix, `dense`. Or CSR by feature: `starts`, with `narrow` or `wide` labels and `values`, or
    with delta-coded labels in `gaps` and `codes` of quantized `levels`. Features with more than
    `hot_limit` weights are the words of every text: they have a row of `hot_weights` as well,
    number `hot_rows[feature]`, since adding a row is faster than scattering so many weights.
    """

    bias: NDArray[np.float32]
    dense: Matrix
    starts: NDArray[np.int64]
    narrow: NDArray[np.uint16]
    wide: NDArray[np.int32]
    values: NDArray[np.float32]
    gaps: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]
    hot_weights: Matrix
    hot_rows: NDArray[np.int32]
    hot_limit: int


class WeightTable(NamedTuple):
    """What the kernels that score are given as an array table."""

    frequency: int
    """The scheme of term frequencies, one of `FREQUENCIES` in text/tfidf.py."""
    binary: bool
    idf: NDArray[np.float64]
    weights: Weights


def weights_of(linear: Linear) -> Weights:
    """The weights, with dense rows for the features with the most of them."""
    is_narrow = linear.labels.dtype == np.uint16
    limit, features = _hot_features(linear)
    hot_rows = np.full(max(len(linear.starts) - 1, 0), -1, np.int32)
    hot_rows[features] = np.arange(len(features), dtype=np.int32)
    return Weights(
        linear.bias,
        linear.dense,
        linear.starts,
        linear.labels if is_narrow else np.zeros(0, np.uint16),
        np.zeros(0, np.int32) if is_narrow else linear.labels,
        linear.values,
        linear.gaps,
        linear.codes,
        linear.levels,
        _dense_rows(linear, features),
        hot_rows,
        limit,
    )


def _hot_features(linear: Linear) -> tuple[int, NDArray[np.intp]]:
    """The largest number of weights of a feature that is not hot, and the hot features."""
    sizes = np.diff(linear.starts)
    limit = int(HOT_SHARE * len(linear.bias))
    most_rows = HOT_BYTES // (4 * max(len(linear.bias), 1))
    if np.count_nonzero(sizes > limit) > most_rows:
        limit = int(np.sort(sizes)[-most_rows - 1])
    return limit, np.flatnonzero(sizes > limit)


def _dense_rows(linear: Linear, features: NDArray[np.intp]) -> NDArray[np.float32]:
    rows = np.zeros((len(features), len(linear.bias)), np.float32)
    labels, weights = linear.entries()
    for row, feature in zip(rows, features.tolist(), strict=True):
        span = slice(linear.starts[feature], linear.starts[feature + 1])
        row[labels[span]] = weights[span]
    return rows
