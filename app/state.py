"""What a trained part is on disk: kind + settings + arrays (+ parts alike), never code."""

from collections.abc import Iterator, Mapping, Sequence
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


def pack_strings(
    strings: Sequence[str], name: str, errors: str = "strict"
) -> dict[str, NDArray[Any]]:
    """Two arrays `name` (UTF-8 bytes end to end) and `name_ends` that hold the strings.

    With `errors="surrogatepass"` here and there, half a surrogate pair is kept as it is.

    >>> unpack_strings(pack_strings(["a", "", "é"], "labels"), "labels")
    ['a', '', 'é']
    """
    encoded = [string.encode("utf-8", errors) for string in strings]
    ends = np.cumsum([len(piece) for piece in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def unpack_strings(
    arrays: Mapping[str, NDArray[Any]], name: str, errors: str = "strict"
) -> list[str]:
    """The strings of `pack_strings`, in their order."""
    packed, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return [packed[a:b].decode("utf-8", errors) for a, b in zip([0, *ends], ends, strict=False)]


class PackedStrings:
    """The strings of `pack_strings`, decoded one at a time: a memory-mapped file stays on disk.

    >>> list(PackedStrings(*pack_strings(["a", "", "é"], "names").values()))
    ['a', '', 'é']
    """

    def __init__(self, packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        _check_packed(packed, ends)
        self.packed, self.ends = packed, ends
        self._bytes, self._ends = packed.data, ends.data

    @classmethod
    def of(cls, strings: Sequence[str]) -> "PackedStrings":
        """These strings, packed."""
        return cls(*pack_strings(strings, "strings").values())

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The two arrays, named as `pack_strings` names them."""
        return {name: self.packed, f"{name}_ends": self.ends}

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, position: int) -> str:
        begin = self._ends[position - 1] if position else 0
        return str(self._bytes[begin : self._ends[position]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(unpack_strings(self.arrays("strings"), "strings"))


def _check_packed(packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
    """Refuse arrays that do not hold strings: who reads one later does not look again."""
    if packed.dtype != np.uint8 or ends.dtype != np.int64 or packed.ndim != 1 or ends.ndim != 1:
        raise ValueError("packed strings are bytes and the places where each ends")
    bounds = np.append(0, ends)
    if np.any(np.diff(bounds) < 0) or bounds[-1] != len(packed):
        raise ValueError("the ends of packed strings do not fit their bytes")
    inside = ends[ends < len(packed)]
    if np.any(packed[inside] & 0xC0 == 0x80):
        raise ValueError("a packed string ends within a character")
    str(packed.data, "utf-8")
