"""Counters, gauges and histograms as plain numbers, without locks; read together, as a snapshot.

Each series is written by one thread, mostly that of the event loop; any thread may read it, and
sees it before or after a change. Prometheus's own metrics take a lock for every number, which is a
tenth of what a request costs.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from app.serving.telemetry.snapshot import FamilySnapshot


class Series(Protocol):
    """The numbers for one combination of label values."""

    def numbers(self) -> list[float]:
        """The numbers, in the order that `FamilySnapshot` documents."""


class Counter:
    """A number that only grows."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = 0

    def inc(self, amount: int = 1) -> None:
        """Count so many more."""
        self._value += amount

    def numbers(self) -> list[float]:
        """All that was counted."""
        return [self._value]


class Gauge:
    """A number that goes up and down."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = 0.0

    def set(self, value: float) -> None:
        """Show this value from now on."""
        self._value = value

    def numbers(self) -> list[float]:
        """The value of this moment."""
        return [self._value]


class Histogram:
    """Observations counted in buckets, and their sum. A value equal to a bound is below it."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._counts, self._sum = bounds, [0] * len(bounds), 0.0

    def observe(self, value: float) -> None:
        """Count the value in its bucket."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def numbers(self) -> list[float]:
        """The count of every bucket, then the sum of all values."""
        return [*self._counts, self._sum]


class Sums:
    """Several numbers that grow together, and are changed together."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: list[float] = []

    def add(self, values: Sequence[float]) -> None:
        """Add one number to each; all additions have as many."""
        before = self._values or [0.0] * len(values)
        self._values = [one + other for one, other in zip(before, values, strict=True)]

    def set(self, values: Sequence[float]) -> None:
        """Show these from now on."""
        self._values = list(values)

    def numbers(self) -> list[float]:
        """The sums of this moment."""
        return self._values


AnySeries = TypeVar("AnySeries", bound=Series)


class MetricFamily(Generic[AnySeries]):
    """A metric: a series for every combination of label values that occurred."""

    def __init__(self, description: FamilySnapshot, new_series: Callable[[], AnySeries]) -> None:
        self._description, self._new_series = description, new_series
        self._series: dict[tuple[str, ...], AnySeries] = {}

    def labels(self, *values: object) -> AnySeries:
        """The series of these label values; where there is none yet, a new one."""
        key = tuple(map(str, values))
        if len(key) != len(self._description.label_names):
            raise ValueError(f"{self._description.name} has {self._description.label_names}")
        found = self._series.get(key)
        return self._series.setdefault(key, self._new_series()) if found is None else found

    def show(self, series: AnySeries, *values: object) -> None:
        """Have a series that is counted elsewhere shown with these label values."""
        self._series[tuple(map(str, values))] = series

    def remove(self, *values: object) -> None:
        """Show the series of these label values no longer."""
        self._series.pop(tuple(map(str, values)), None)

    def keep(self, is_kept: Callable[[tuple[str, ...]], bool]) -> None:
        """Show only the series of such label values any longer."""
        for key in list(self._series):
            if not is_kept(key):
                self._series.pop(key, None)

    def snapshot(self) -> FamilySnapshot:
        """The numbers of this moment."""
        series = list(self._series.items())  # at once, since another thread may add one meanwhile
        numbers = {labels: one.numbers() for labels, one in series}
        return msgspec.structs.replace(self._description, series=numbers)


def counter(name: str, text: str, label_names: tuple[str, ...]) -> MetricFamily[Counter]:
    """A family of counters."""
    return MetricFamily(FamilySnapshot(name, text, "counter", label_names), Counter)


def live_sum(name: str, text: str, label_names: tuple[str, ...]) -> MetricFamily[Gauge]:
    """A family of gauges; several processes show their sum."""
    return MetricFamily(FamilySnapshot(name, text, "gauge", label_names), Gauge)


def live_max(name: str, text: str, label_names: tuple[str, ...]) -> MetricFamily[Gauge]:
    """A family of gauges; several processes show the largest."""
    description = FamilySnapshot(name, text, "gauge", label_names, merge="max")
    return MetricFamily(description, Gauge)


def hidden_sums(name: str, label_names: tuple[str, ...]) -> MetricFamily[Sums]:
    """A family of sums that figures are made of, over all processes; Prometheus does not see it."""
    return MetricFamily(FamilySnapshot(name, "", "counter", label_names, is_shown=False), Sums)


def hidden_state(
    name: str, label_names: tuple[str, ...], merge: Literal["sum", "max"]
) -> MetricFamily[Sums]:
    """The same for numbers that a process takes with it when it ends."""
    description = FamilySnapshot(name, "", "gauge", label_names, merge=merge, is_shown=False)
    return MetricFamily(description, Sums)


def histogram(
    name: str, text: str, label_names: tuple[str, ...], bounds: tuple[float, ...]
) -> MetricFamily[Histogram]:
    """A family of histograms with these upper bounds, inclusive, and a bucket beyond them."""
    every = (*bounds, math.inf)
    description = FamilySnapshot(name, text, "histogram", label_names, every)
    return MetricFamily(description, lambda: Histogram(every))
