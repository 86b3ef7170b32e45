"""Sparse weights in two bytes each: the way to the label from the one before, and a level.

The entries of feature f stand from starts[f] to starts[f + 1]. An entry's label is the sum of the
row's `gaps` up to it, its weight is `levels[code]`. A way longer than a byte is bridged by entries
of the level 0, which is 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BRIDGE = 255
"""What an entry that only leads on adds to the label."""
STEPS = 126
"""From the smallest to the largest size of a weight, each so many times the one before."""
WIDEST_STEP = 1.1
"""Weights are moved by at most half a step, here 5 %; of a wider range none are rounded."""


class QuantizedWeights(NamedTuple):
    """The weights of all features."""

    starts: NDArray[np.integer[Any]]
    gaps: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]

    def labels(self) -> NDArray[np.int64]:
        """Every entry's label."""
        sums = np.concatenate([[0], np.cumsum(self.gaps, dtype=np.int64)])
        return np.asarray(sums[1:] - np.repeat(sums[self.starts[:-1]], np.diff(self.starts)))

    def values(self) -> NDArray[np.float32]:
        """Every entry's weight, 0 for bridges."""
        return self.levels[self.codes]


def quantized(
    starts: NDArray[Any], labels: NDArray[Any], values: NDArray[np.float32]
) -> QuantizedWeights | None:
    """Weights of rising labels a feature, each rounded to the nearest level.

    None where levels would be too far apart, or more bridges than weights needed.
    """
    step = _step(values)
    if step > WIDEST_STEP:
        return None
    bridges, rest = np.divmod(_ways(starts, labels), BRIDGE)
    ends = np.concatenate([[0], np.cumsum(bridges + 1, dtype=np.int64)])
    if ends[-1] > 2 * len(labels):
        return None
    levels, found = _rounded(values, step)
    gaps, codes = np.full(ends[-1], BRIDGE, np.uint8), np.zeros(ends[-1], np.uint8)
    gaps[ends[1:] - 1], codes[ends[1:] - 1] = rest, found
    return QuantizedWeights(ends[starts], gaps, codes, levels)


def _ways(starts: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int32]:
    """From each label to the next of the same feature, from 0 to the first."""
    ways = labels.astype(np.int32)
    ways[1:] -= ways[:-1].copy()
    first = starts[:-1][np.diff(starts) > 0]
    ways[first] = labels[first]
    return ways


def _step(values: NDArray[np.float32]) -> float:
    """How many times the one before every level is; infinite where there are no weights, or 0."""
    least, most = _range(values)
    return (most / least) ** (1 / STEPS) if least > 0 else np.inf


def _rounded(
    values: NDArray[np.float32], step: float
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """The levels (0, the sizes rising, the same below 0), and each weight's number among them."""
    least, _ = _range(values)
    places = np.log(np.abs(values) / np.float32(least)) / np.float32(max(np.log(step), 1e-9))
    codes = np.rint(places).astype(np.uint8) + np.where(values < 0, STEPS + 2, 1).astype(np.uint8)
    sizes = least * step ** np.arange(STEPS + 1)
    return np.concatenate([[0], sizes, -sizes]).astype(np.float32), codes


def _range(values: NDArray[np.float32]) -> tuple[float, float]:
    """The smallest and the largest size; 0 and 0 without weights."""
    if not len(values):
        return 0.0, 0.0
    sizes = np.abs(values)
    return float(sizes.min()), float(sizes.max())
