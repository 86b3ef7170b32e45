"""A model's arrays as one array of numbers: a kernel's call then costs the same for all models."""

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from app.kernels.compiler import inner
from app.kernels.linear.answer_values import Curves
from app.kernels.linear.types import Linear
from app.kernels.text.types import Cutting, Terms, fixed

HOT_SHARE, HOT_BYTES = 1 / 4, 8 * 2**20


class Weights(NamedTuple):
    """Linear weights as kernels see them: narrow or wide labels, or quantized; the rest is empty.

    Features with weights for many labels are the words of every text: for those with more than
    `limit` of them `hot` has a dense row as well, number `hot_rows[feature]`.
    """

    bias: NDArray[np.float32]
    dense: NDArray[np.float32]
    starts: NDArray[np.int64]
    narrow: NDArray[np.uint16]
    wide: NDArray[np.int32]
    values: NDArray[np.float32]
    gaps: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]
    hot: NDArray[np.float32]
    hot_rows: NDArray[np.int32]
    limit: int


class ArrayTable(NamedTuple):
    """`numbers` say where the arrays lie and how long they are; `arrays` keeps them there."""

    numbers: NDArray[np.int64]
    arrays: tuple[NDArray[Any], ...]


def flat_text(cutting: Cutting, terms: Terms) -> ArrayTable:
    """How texts are cut, and the terms to look for."""
    options = [cutting.analyzer, cutting.shortest, cutting.longest, int(cutting.lowercase)]
    return _flat(options, (cutting.letters, cutting.classes, *cutting.stops, *terms))


def flat_weights(frequency: int, binary: bool, idf: NDArray[Any], linear: Linear) -> ArrayTable:
    """How counts are weighed, and what they weigh for each label."""
    weights = weights_of(linear)
    return _flat([frequency, int(binary), weights.limit], (idf, *weights[:-1]))


def flat_told(cuts: NDArray[np.float32], curves: Curves) -> ArrayTable:
    """The labels' cuts and probabilities."""
    return _flat([], (cuts, *curves))


def _flat(options: list[int], arrays: tuple[NDArray[Any], ...]) -> ArrayTable:
    held = tuple(map(fixed, arrays))
    places = [number for array in held for number in (array.ctypes.data, len(array))]
    return ArrayTable(np.array([*options, *places], dtype=np.int64), held)


def weights_of(linear: Linear) -> Weights:
    """The weights with dense rows for the features that need them most, within a bound."""
    bias, dense, starts, labels, values, gaps, codes, levels = linear
    nothing = np.zeros(0)
    is_narrow = labels.dtype == np.uint16
    narrow = labels if is_narrow else nothing.astype(np.uint16)
    wide = nothing.astype(np.int32) if is_narrow else labels
    sizes = np.diff(starts)
    n_most = HOT_BYTES // (4 * max(len(bias), 1))
    limit = int(HOT_SHARE * len(bias))
    if np.count_nonzero(sizes > limit) > n_most:
        limit = int(np.sort(sizes)[-n_most - 1])
    features = np.flatnonzero(sizes > limit)
    hot_rows = np.full(len(sizes), -1, np.int32)
    hot_rows[features] = np.arange(len(features), dtype=np.int32)
    hot = np.zeros((len(features), len(bias)), np.float32)
    every_label, every_weight = linear.entries()
    for row, feature in zip(hot, features.tolist(), strict=True):
        span = slice(starts[feature], starts[feature + 1])
        row[every_label[span]] = every_weight[span]
    quantized, many = (gaps, codes, levels), (hot, hot_rows, limit)
    return Weights(bias, dense, starts, narrow, wide, values, *quantized, *many)


@inner
def text_forms(numbers: Any) -> Any:
    """Cutting and terms, as they were flattened."""
    at = numbers[4:]
    stops = Terms(
        carray(pointer(at[4]), at[5], np.uint8),
        carray(pointer(at[6]), at[7], np.uint32),
        carray(pointer(at[8]), at[9], np.uint32),
    )
    cutting = Cutting(
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3] != 0,
        carray(pointer(at[0]), at[1], np.uint8),
        carray(pointer(at[2]), at[3], np.uint8),
        stops,
    )
    terms = Terms(
        carray(pointer(at[10]), at[11], np.uint8),
        carray(pointer(at[12]), at[13], np.uint32),
        carray(pointer(at[14]), at[15], np.uint32),
    )
    return cutting, terms


@inner
def weight_forms(numbers: Any) -> Any:
    """The idf and the weights, as they were flattened; kind and binary are the first numbers."""
    at = numbers[3:]
    idf = carray(pointer(at[0]), at[1], np.float64)
    weights = Weights(
        carray(pointer(at[2]), at[3], np.float32),
        carray(pointer(at[4]), (at[5], at[3]), np.float32),
        carray(pointer(at[6]), at[7], np.int64),
        carray(pointer(at[8]), at[9], np.uint16),
        carray(pointer(at[10]), at[11], np.int32),
        carray(pointer(at[12]), at[13], np.float32),
        carray(pointer(at[14]), at[15], np.uint8),
        carray(pointer(at[16]), at[17], np.uint8),
        carray(pointer(at[18]), at[19], np.float32),
        carray(pointer(at[20]), (at[21], at[3]), np.float32),
        carray(pointer(at[22]), at[23], np.int32),
        numbers[2],
    )
    return idf, weights


@inner
def told_forms(numbers: Any) -> Any:
    """The cuts and the curves, as they were flattened."""
    curves = Curves(
        carray(pointer(numbers[2]), numbers[3], np.float64),
        carray(pointer(numbers[4]), numbers[5], np.float64),
        carray(pointer(numbers[6]), numbers[7], np.int64),
        carray(pointer(numbers[8]), numbers[9], np.float64),
        carray(pointer(numbers[10]), numbers[11], np.float64),
    )
    return carray(pointer(numbers[0]), numbers[1], np.float32), curves


@intrinsic  # type: ignore[untyped-decorator]
def pointer(typing_context: Any, address: Any) -> Any:
    """The address as something that an array can be seen at."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(address), build
