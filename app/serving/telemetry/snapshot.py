"""Snapshots of a process's figures: what one is, the sum of several, and their bytes."""

import operator
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Literal

import msgspec


class FamilySnapshot(msgspec.Struct, frozen=True, array_like=True):
    """A metric family at one moment: its description and the numbers of each of its series.

    The numbers of a counter or gauge are its value. Those of a histogram are the observations in
    each bucket, not cumulated, the one without a bound last, and then the sum of all observations.
    A family that is not shown may have any numbers.
    """

    name: str
    help: str
    kind: Literal["counter", "gauge", "histogram"]
    label_names: tuple[str, ...]
    bounds: tuple[float, ...] = ()
    """A histogram's upper bounds, inclusive, infinity last."""
    merge: Literal["sum", "max"] = "sum"
    """What several processes show together."""
    series: dict[tuple[str, ...], list[float]] = {}
    """Numbers by label values."""
    is_shown: bool = True
    """Whether Prometheus sees it; what it does not see, figures are made of."""


Snapshot = tuple[FamilySnapshot, ...]

MERGE: dict[str, Callable[[float, float], float]] = {"sum": operator.add, "max": max}


def merged(snapshots: Iterable[Snapshot]) -> Snapshot:
    """One snapshot of several: series with the same labels are added, or their maximum is taken."""
    families: dict[str, FamilySnapshot] = {}
    for family in chain.from_iterable(snapshots):
        before = families.get(family.name)
        families[family.name] = family if before is None else _merged_family(before, family)
    return tuple(families.values())


def without_gauges(snapshot: Snapshot) -> Snapshot:
    """What stays true of a process that has ended: all it counted, nothing of its state."""
    return tuple(family for family in snapshot if family.kind != "gauge")


def encode(snapshot: Snapshot) -> bytes:
    """The snapshot as bytes."""
    return msgspec.msgpack.encode(snapshot)


def decode(content: bytes) -> Snapshot:
    """The snapshot that `encode` was given."""
    return msgspec.msgpack.decode(content, type=Snapshot)


def _merged_family(one: FamilySnapshot, other: FamilySnapshot) -> FamilySnapshot:
    merge, series = MERGE[one.merge], dict(one.series)
    for labels, numbers in other.series.items():
        before = series.get(labels)
        series[labels] = list(map(merge, before, numbers)) if before else numbers
    return msgspec.structs.replace(one, series=series)
