"""Figures that the event loop adds up as plain numbers, and passes on to Prometheus's.

Those take a lock for every number, which is a tenth of what a request costs.
"""

from bisect import bisect_left
from typing import Any


class BatchedCounter:
    """A counter."""

    __slots__ = ("_added", "_counter")

    def __init__(self, counter: Any) -> None:
        self._counter, self._added = counter, 0

    def add(self, number: int) -> None:
        """BatchedCounter so many more."""
        self._added += number

    def pass_on(self) -> None:
        """Add what was counted since the last time."""
        if self._added:
            self._counter.inc(self._added)
            self._added = 0


class BatchedHistogram:
    """A histogram."""

    __slots__ = ("_bounds", "_counts", "_histogram", "_sum")

    def __init__(self, histogram: Any) -> None:
        self._histogram, self._bounds = histogram, histogram._upper_bounds
        self._counts, self._sum = [0] * len(self._bounds), 0.0

    def observe(self, value: float) -> None:
        """BatchedCounter the value in its bucket."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def pass_on(self) -> None:
        """Add what was observed since the last time."""
        if not any(self._counts):
            return
        for bucket, count in zip(self._histogram._buckets, self._counts, strict=True):
            if count:
                bucket.inc(count)
        self._histogram._sum.inc(self._sum)
        self._counts, self._sum = [0] * len(self._bounds), 0.0
