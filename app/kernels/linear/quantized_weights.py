"""Quantized sparse weights, two bytes each: a delta-coded label and the code of a level.

The entries of feature f are those from starts[f] to starts[f + 1]. An entry's label is the sum of
the feature's `gaps` up to it, its weight is `levels[code]`. A gap that does not fit a byte is split
over entries of level 0, whose weight is 0 (filler entries). Levels are spaced logarithmically, so
that the relative error is the same for small and large weights.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST_GAP = 255
"""The gap of a filler entry."""
STEPS = 126
"""Steps from the smallest to the largest size of a weight: with both signs and 0, a byte."""
WIDEST_STEP = 1.1
"""Levels have at most this ratio, so rounding moves a weight by 5 % at most."""


class QuantizedWeights(NamedTuple):
    """The delta-coded labels and quantized weights of all features."""

    starts: NDArray[np.integer[Any]]
    gaps: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]

    def labels(self) -> NDArray[np.int64]:
        """Every entry's label."""
        sums = np.concatenate([[0], np.cumsum(self.gaps, dtype=np.int64)])
        return np.asarray(sums[1:] - np.repeat(sums[self.starts[:-1]], np.diff(self.starts)))

    def values(self) -> NDArray[np.float32]:
        """Every entry's weight, 0 for filler entries."""
        return self.levels[self.codes]


def quantized(
    starts: NDArray[Any], labels: NDArray[Any], values: NDArray[np.float32]
) -> QuantizedWeights | None:
    """CSR weights by feature, labels rising, each rounded to the nearest level.

    None where levels would be too far apart, or more filler entries than weights needed.
    """
    step = _step(values)
    if step > WIDEST_STEP:
        return None
    n_fillers, rest = np.divmod(_label_gaps(starts, labels), LARGEST_GAP)
    ends = np.concatenate([[0], np.cumsum(n_fillers + 1, dtype=np.int64)])
    if ends[-1] > 2 * len(labels):
        return None
    levels, nearest = _rounded(values, step)
    gaps, codes = np.full(ends[-1], LARGEST_GAP, np.uint8), np.zeros(ends[-1], np.uint8)
    # Each weight is the last of its entries; those before it stay filler entries.
    gaps[ends[1:] - 1], codes[ends[1:] - 1] = rest, nearest
    return QuantizedWeights(ends[starts], gaps, codes, levels)


def _label_gaps(starts: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int32]:
    """Each label minus the one before it of the same feature; the first of a feature itself."""
    gaps = labels.astype(np.int32)
    gaps[1:] -= gaps[:-1].copy()
    first = starts[:-1][np.diff(starts) > 0]
    gaps[first] = labels[first]
    return gaps


def _step(values: NDArray[np.float32]) -> float:
    """The ratio of neighbouring levels; infinite without weights, or where one is 0."""
    least, most = _range(values)
    return (most / least) ** (1 / STEPS) if least > 0 else np.inf


def _rounded(
    values: NDArray[np.float32], step: float
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """The levels (0, the sizes rising, their negatives), and the code of each weight's nearest."""
    least, _ = _range(values)
    exponents = np.log(np.abs(values) / np.float32(least)) / np.float32(max(np.log(step), 1e-9))
    # Code 0 is the weight 0; positive sizes follow from 1 on, negative ones after them.
    codes = np.rint(exponents).astype(np.uint8) + np.where(values < 0, STEPS + 2, 1).astype(
        np.uint8
    )
    sizes = least * step ** np.arange(STEPS + 1)
    return np.concatenate([[0], sizes, -sizes]).astype(np.float32), codes


def _range(values: NDArray[np.float32]) -> tuple[float, float]:
    """The smallest and the largest absolute weight; 0 and 0 without weights."""
    if not len(values):
        return 0.0, 0.0
    sizes = np.abs(values)
    return float(sizes.min()), float(sizes.max())
