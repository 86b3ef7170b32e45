"""A model's arrays as one array of numbers: a kernel's call then costs the same for all models."""

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from app.kernels.compiler import inner
from app.kernels.forms import Cutting, Terms, fixed
from app.kernels.linear_forms import Linear

HOT_SHARE, HOT_BYTES = 1 / 4, 8 * 2**20


class Weights(NamedTuple):
    """Linear weights as kernels see them; label numbers are narrow or wide, the other is empty.

    Features with weights for many labels are the words of every text: for those with more than
    `limit` of them `hot` has a dense row as well, number `hot_rows[feature]`.
    """

    bias: NDArray[np.float32]
    dense: NDArray[np.float32]
    starts: NDArray[np.int64]
    narrow: NDArray[np.uint16]
    wide: NDArray[np.int32]
    values: NDArray[np.float32]
    hot: NDArray[np.float32]
    hot_rows: NDArray[np.int32]
    limit: int


class Flat(NamedTuple):
    """`numbers` say where the arrays lie and how long they are; `arrays` keeps them there."""

    numbers: NDArray[np.int64]
    arrays: tuple[NDArray[Any], ...]


def flattened(cutting: Cutting, terms: Terms, idf: NDArray[Any], linear: Linear) -> Flat:
    """Everything between a text and its scores but the kind of weighing."""
    weights = weights_of(linear)
    text = (cutting.letters, cutting.classes, *cutting.stops, *terms, idf)
    arrays = tuple(fixed(array) for array in (*text, *weights[:-1]))
    places = [number for array in arrays for number in (array.ctypes.data, len(array))]
    options = [cutting.analyzer, cutting.shortest, cutting.longest, int(cutting.lowercase)]
    return Flat(np.array([*options, weights.limit, *places], dtype=np.int64), arrays)


def weights_of(linear: Linear) -> Weights:
    """The weights with dense rows for the features that need them most, within a bound."""
    bias, dense, starts, labels, values = linear
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
    for row, feature in zip(hot, features.tolist(), strict=True):
        span = slice(starts[feature], starts[feature + 1])
        row[labels[span]] = values[span]
    return Weights(bias, dense, starts, narrow, wide, values, hot, hot_rows, limit)


@inner
def unflattened(numbers: Any) -> Any:
    """Cutting, terms, idf and weights, as they were flattened."""
    at = numbers[5:]
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
    idf = carray(pointer(at[16]), at[17], np.float64)
    weights = Weights(
        carray(pointer(at[18]), at[19], np.float32),
        carray(pointer(at[20]), (at[21], at[19]), np.float32),
        carray(pointer(at[22]), at[23], np.int64),
        carray(pointer(at[24]), at[25], np.uint16),
        carray(pointer(at[26]), at[27], np.int32),
        carray(pointer(at[28]), at[29], np.float32),
        carray(pointer(at[30]), (at[31], at[19]), np.float32),
        carray(pointer(at[32]), at[33], np.int32),
        numbers[4],
    )
    return cutting, terms, idf, weights


@intrinsic  # type: ignore[untyped-decorator]
def pointer(typing_context: Any, address: Any) -> Any:
    """The address as something that an array can be seen at."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(address), build
