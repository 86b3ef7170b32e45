"""The hash table of a vocabulary, compiled: filling it, and finding a term in it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.compiler import inner, kernel
from app.kernels.text.types import fixed
from app.kernels.vocabulary.hashing_plain import HASH_START, HASH_STEP, n_slots


def hash_table(packed: NDArray[np.uint8], ends: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A table of the packed terms, filled in their order."""
    table = np.zeros(n_slots(len(ends)), dtype=np.uint32)
    fill(table, fixed(packed), fixed(ends))
    return table


def warm() -> None:
    """Compile everything here."""
    hash_table(np.zeros(1, np.uint8), np.ones(1, np.uint32))


@kernel
def fill(table: Any, packed: Any, ends: Any) -> None:
    """Put every term into the first free slot from its own place on."""
    begin, last = np.int64(0), np.uint32(len(table) - 1)
    for column in range(len(ends)):
        end = np.int64(ends[column])
        value = hashed(np.uint32(HASH_START), packed, begin, end)
        table[free_slot(table, value)] = (value & ~last) | np.uint32(column + 1)
        begin = end


@inner
def hashed(value: Any, packed: Any, begin: Any, end: Any) -> Any:
    """The hash carried on over some more bytes."""
    for at in range(begin, end):
        value = np.uint32((value ^ np.uint32(packed[at])) * np.uint32(HASH_STEP))
    return value


@inner
def free_slot(table: Any, value: Any) -> Any:
    """The first free slot for a hash."""
    last = len(table) - 1
    slot = np.int64(value) & last
    while table[slot] != 0:
        slot = (slot + 1) & last
    return slot


@inner
def found(terms: Any, key: Any, span: Any) -> Any:
    """The column of the term `key[begin:end]`, -1 if there is none; `span` = hash, begin, end."""
    value, begin, end = span
    last = len(terms.table) - 1
    slot = np.int64(value) & last
    while True:
        entry = terms.table[slot]
        if entry == 0:
            return -1
        if (entry ^ value) <= last:  # equal in the bits of the hash that an entry keeps
            column = (np.int64(entry) & last) - 1
            start = np.int64(terms.ends[column - 1]) if column else 0
            if same(terms.packed, start, np.int64(terms.ends[column]), key, begin, end):
                return column
        slot = (slot + 1) & last


@inner
def same(one: Any, begin: Any, end: Any, other: Any, first: Any, stop: Any) -> Any:
    """Whether two stretches of bytes are equal."""
    if end - begin != stop - first:
        return False
    for i in range(end - begin):  # noqa: SIM110 (the compiler wants the loop)
        if one[begin + i] != other[first + i]:
            return False
    return True
