"""Estimates with 95 % intervals, from sums and from histograms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.959964
"""Of the normal distribution, for 95 %."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of a sample, and between which bounds that of all traffic is expected."""

    value: float
    low: float
    high: float


def share(part: float, whole: float) -> Estimate | None:
    """A share with Wilson's interval; None of nothing.

    >>> found = share(9, 10)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.9, 0.596, 0.982)
    """
    if whole <= 0:
        return None
    p, weight = part / whole, Z * Z / whole
    centre = (p + weight / 2) / (1 + weight)
    width = math.sqrt(p * (1 - p) * weight + weight * weight / 4) / (1 + weight)
    return Estimate(p, max(0.0, centre - width), min(1.0, centre + width))


def mean(total: float, squares: float, n: float) -> Estimate | None:
    """The mean of n values with this sum and sum of squares; None of fewer than two."""
    if n < 2:
        return None
    middle = total / n
    variance = max(0.0, (squares - n * middle * middle) / (n - 1))
    width = Z * math.sqrt(variance / n)
    return Estimate(middle, middle - width, middle + width)


def correlation(sums: Sequence[float], n: float) -> Estimate | None:
    """Pearson's r of pairs with these sums (how many, x, y, xx, yy, xy); None where it has none.

    Fisher's interval is that of n independent pairs: of documents, not of the scores in them.
    """
    pairs, x, y, xx, yy, xy = sums
    spread = (pairs * xx - x * x) * (pairs * yy - y * y)
    if n < 4 or spread <= 0:
        return None
    r = max(-1.0, min(1.0, (pairs * xy - x * y) / math.sqrt(spread)))
    if abs(r) > 1 - 1e-12:
        return Estimate(r, r, r)
    z, width = math.atanh(r), Z / math.sqrt(n - 3)
    return Estimate(r, math.tanh(z - width), math.tanh(z + width))


def quantile(q: float, counts: Sequence[float], bounds: Sequence[float]) -> Estimate | None:
    """A quantile of a histogram with these upper bounds, as straight as within its buckets.

    The interval is that of the ranks; None of nothing.
    """
    n = sum(counts)
    if not n:
        return None
    width = Z * math.sqrt(q * (1 - q) / n)
    at = [_value(min(max(p, 0.0), 1.0) * n, counts, bounds) for p in (q, q - width, q + width)]
    return Estimate(*at)


def _value(rank: float, counts: Sequence[float], bounds: Sequence[float]) -> float:
    """The value at a rank; of the bucket without a bound, where that begins."""
    below, low = 0.0, 0.0
    for count, high in zip(counts, bounds, strict=True):
        if math.isinf(high):
            break
        if count and below + count >= rank:
            return low + (high - low) * (rank - below) / count
        below, low = below + count, high
    return low
