"""Vocabulary: terms as packed bytes with a ready hash table, so that loading is mapping memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.state import pack_strings, unpack_strings

HASH_START = 2166136261
HASH_STEP = 16777619
"""FNV-1a with 32 bits. A hash only says where to look: keys are always compared whole."""


@dataclass(frozen=True)
class Vocabulary:
    """Terms in code-point order; a term's place is its column.

    `table` is open addressing with linear probing over a power of two of slots. A slot is 0 when
    free, else the term's hash in the upper and its column + 1 in the lower 32 bits.
    """

    packed: NDArray[np.uint8]
    ends: NDArray[np.int64]
    table: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, terms: Sequence[str]) -> "Vocabulary":
        """A vocabulary of terms that are sorted already."""
        arrays = pack_strings(terms, "terms")
        return cls(arrays["terms"], arrays["terms_ends"], hash_table(terms))

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Vocabulary":
        """The vocabulary that `arrays` came from."""
        return cls(arrays["terms"], arrays["terms_ends"], arrays["terms_table"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to build an equal vocabulary."""
        return {"terms": self.packed, "terms_ends": self.ends, "terms_table": self.table}

    def kept(self, keep: NDArray[np.bool_]) -> "Vocabulary":
        """The vocabulary of the marked columns only."""
        return Vocabulary.of([self.terms[column] for column in np.flatnonzero(keep)])

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def terms(self) -> list[str]:
        """The terms in column order."""
        return unpack_strings({"terms": self.packed, "terms_ends": self.ends}, "terms")

    @cached_property
    def columns(self) -> dict[str, int]:
        """Term → column, for plain Python."""
        return {term: column for column, term in enumerate(self.terms)}


def hash_of(key: bytes) -> int:
    """FNV-1a, 32 bits.

    >>> hash_of(b"") == HASH_START
    True
    """
    value = HASH_START
    for byte in key:
        value = ((value ^ byte) * HASH_STEP) & 0xFFFFFFFF
    return value


def n_slots(n_terms: int) -> int:
    """A power of two at least twice the number of terms, so that probing stays short."""
    return 1 << max(3, (2 * n_terms - 1).bit_length())


def hash_table(terms: Sequence[str]) -> NDArray[np.uint64]:
    """The table of `Vocabulary`, filled in column order."""
    slots = [0] * n_slots(len(terms))
    last = len(slots) - 1
    for column, term in enumerate(terms):
        value = hash_of(term.encode())
        slot = value & last
        while slots[slot]:
            slot = (slot + 1) & last
        slots[slot] = value << 32 | (column + 1)
    return np.array(slots, dtype=np.uint64)
