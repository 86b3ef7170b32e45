"""Vocabulary: terms as packed bytes with a ready hash table, so that loading is mapping memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DamagedArtifactError, InvalidDataError
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.text.types import Terms
from app.kernels.vocabulary.hashing_plain import n_slots
from app.state import pack_strings, unpack_strings

MOST_BYTES = 2**32 - 1
"""`ends` are uint32."""


@dataclass(frozen=True)
class Vocabulary:
    """Terms in code-point order; a term's number in that order is its column.

    `table` is open addressing with linear probing over 2^s slots. A slot is 0 when free, else its
    lower s bits are the term's column + 1, and its upper ones those of the term's hash (whose
    lower ones are the slot to begin at). A hash only says where to look: terms are compared whole.
    """

    packed: NDArray[np.uint8]
    ends: NDArray[np.uint32]
    table: NDArray[np.uint32] = field(repr=False)

    @classmethod
    def empty(cls) -> "Vocabulary":
        """A vocabulary without terms, for which nothing has to be loaded."""
        slots = np.zeros(n_slots(0), np.uint32)
        return cls(np.zeros(0, np.uint8), np.zeros(0, np.uint32), slots)

    @classmethod
    def of(cls, terms: Sequence[str]) -> "Vocabulary":
        """A vocabulary of terms that are sorted already."""
        arrays = pack_strings(terms, "terms")
        return cls.of_packed(arrays["terms"], arrays["terms_ends"])

    @classmethod
    def of_packed(cls, packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> "Vocabulary":
        """A vocabulary of terms that are sorted already, in UTF-8 end to end."""
        if len(packed) > MOST_BYTES:
            raise InvalidDataError("the terms have more than 4 GB: limit them by min_df or max_df")
        short_ends = ends.astype(np.uint32)
        return cls(packed, short_ends, kernels("vocabulary.hashing").hash_table(packed, short_ends))

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Vocabulary":
        """The vocabulary that `arrays` came from; arrays that do not fit together are refused."""
        vocabulary = cls(arrays["terms"], arrays["terms_ends"], arrays["terms_table"])
        if not vocabulary._is_sound():
            raise DamagedArtifactError("the vocabulary's arrays do not fit together")
        return vocabulary

    def _is_sound(self) -> bool:
        """Whether every index in the arrays exists: kernels do not check bounds."""
        lengths = np.diff(self.ends.astype(np.int64), prepend=0)
        if len(lengths) and (lengths.min() < 0 or self.ends[-1] > len(self.packed)):
            return False
        used = self.table[self.table != 0] & np.uint32(len(self.table) - 1)
        fits = len(self.table) == n_slots(len(self)) and len(used) == len(self)
        return fits and bool(np.all((used > 0) & (used <= len(self))))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to build an equal vocabulary."""
        return {"terms": self.packed, "terms_ends": self.ends, "terms_table": self.table}

    def kept(self, keep: NDArray[np.bool_]) -> "Vocabulary":
        """The vocabulary of the marked columns only."""
        return Vocabulary.of([self.terms[column] for column in np.flatnonzero(keep)])

    def hashed_terms(self) -> Terms:
        """The arrays that kernels look terms up in."""
        return Terms(read_only(self.packed), read_only(self.ends), read_only(self.table))

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def tables(self) -> "AddressCache":
        """The array tables made of the vocabulary so far, by `Analysis` and `LeadColumns`."""
        return AddressCache()

    @cached_property
    def terms(self) -> list[str]:
        """The terms in column order."""
        return unpack_strings({"terms": self.packed, "terms_ends": self.ends}, "terms")

    @cached_property
    def columns(self) -> dict[str, int]:
        """Term → column, for plain Python."""
        return {term: column for column, term in enumerate(self.terms)}


class AddressCache(dict[Any, Any]):
    """Tables that hold addresses: a copy, or what another process unpickles, begins empty."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return AddressCache, ()
