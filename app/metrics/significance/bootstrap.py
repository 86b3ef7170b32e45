"""Bootstrap over documents: how far a figure may move on another test set like this one."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from app.metrics.contingency import f_beta
from app.metrics.counting.cells import Averaging, Cells

Values = NDArray[np.float64]
BLOCK = 2048
ROUNDING = 1e-10
"""Sums of values such as P@5 in another order differ by less; figures of other sets by more."""


def resample_weights(
    rng: np.random.Generator, block_sizes: list[int], n_resamples: int
) -> Iterator[Values]:
    """For each block of documents: (resamples, documents) of how often each was drawn.

    Every resample draws as many documents as there are, with replacement, so its weights over all
    blocks sum to that number. Blocks come one by one: memory is that of the largest.
    """
    sizes = np.array(block_sizes)
    total = int(sizes.sum())
    drawn = rng.multinomial(total, sizes / max(total, 1), size=n_resamples)
    for block, size in enumerate(block_sizes):
        weights = np.empty((n_resamples, size))
        for i in range(n_resamples):
            picks = rng.integers(0, size, drawn[i, block])
            weights[i] = np.bincount(picks, minlength=size)
        yield weights


def paired_resamples(
    first: NDArray[np.int32], second: NDArray[np.int32], n_resamples: int, seed: int
) -> tuple[Values, Values]:
    """(resamples, columns) sums of both systems' per-document counts, drawn alike for both."""
    rng = np.random.default_rng(seed)
    sizes = [min(BLOCK, len(first) - start) for start in range(0, len(first), BLOCK)]
    sums = np.zeros((n_resamples, first.shape[1])), np.zeros((n_resamples, second.shape[1]))
    for i, weights in enumerate(resample_weights(rng, sizes, n_resamples)):
        rows = slice(i * BLOCK, (i + 1) * BLOCK)
        for total, counts in zip(sums, (first, second), strict=True):
            total += weights @ counts[rows]
    return sums


def percentile_interval(values: Values, level: float = 0.95) -> tuple[float, float]:
    """The middle `level` of the resampled values; NaN ones (nothing to average) are left out.

    >>> [round(end, 6) for end in percentile_interval(np.arange(101.0), 0.9)]
    [5.0, 95.0]
    """
    kept = values[~np.isnan(values)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def two_sided_p(differences: Values) -> float:
    """Share of resampled differences on the less frequent side of 0, doubled; at most 1.

    A difference of 0 counts on both sides, whatever rounding made of it, and one is added to both
    counts and the number of resamples (Davison & Hinkley 1997), so that no p-value is 0.
    """
    n = len(differences)
    below, above = int((differences <= ROUNDING).sum()), int((differences >= -ROUNDING).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (n + 1))


def micro_f(counts: NDArray[np.float64], beta: float = 1.0) -> Values:
    """Micro-F_β of rows of (TP, FP, FN); 0/0 is 0."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return f_beta(Cells(tp, fp, fn, np.zeros_like(tp)), Averaging(beta=beta))
