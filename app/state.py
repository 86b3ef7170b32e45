"""What a trained part is on disk: kind + settings + arrays (+ parts alike), never code."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class State:
    """A catalogue name, JSON settings, named arrays, and named parts that are States themselves."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    parts: dict[str, "State"] = field(default_factory=dict)


def pack_strings(strings: Sequence[str], name: str) -> dict[str, NDArray[Any]]:
    """Two arrays `name` (UTF-8 bytes end to end) and `name_ends` that hold the strings.

    >>> unpack_strings(pack_strings(["a", "", "é"], "labels"), "labels")
    ['a', '', 'é']
    """
    encoded = [string.encode("utf-8") for string in strings]
    ends = np.cumsum([len(piece) for piece in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def unpack_strings(arrays: dict[str, NDArray[Any]], name: str) -> list[str]:
    """The strings of `pack_strings`, in their order."""
    packed, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return [packed[a:b].decode("utf-8") for a, b in zip([0, *ends], ends, strict=False)]
