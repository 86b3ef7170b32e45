"""Tallies: what was counted of some documents, as named arrays that add up to those of all."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

Tally: TypeAlias = dict[str, NDArray[Any]]
Integers = NDArray[np.int64]


def joined(tallies: Mapping[str, Tally]) -> Tally:
    """Several tallies as one, whose names begin with theirs.

    >>> part(joined({"a": {"n": np.array([1])}, "b": {"n": np.array([2])}}), "b")
    {'n': array([2])}
    """
    return {f"{name}/{key}": own for name, each in tallies.items() for key, own in each.items()}


def part(tally: Tally, name: str) -> Tally:
    """One of the tallies that were joined."""
    start = f"{name}/"
    return {key.removeprefix(start): own for key, own in tally.items() if key.startswith(start)}


def as_bytes(content: Any) -> NDArray[np.uint8]:
    """JSON as an array."""
    return np.frombuffer(msgspec.json.encode(content), np.uint8)


def from_bytes(array: NDArray[np.uint8]) -> Any:
    """What `as_bytes` was given."""
    return msgspec.json.decode(array.tobytes())
