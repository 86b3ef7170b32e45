"""The hash table of a vocabulary, filled and looked up, compiled: vocabulary.py has its layout."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import read_only
from app.kernels.compiler import inner, kernel
from app.kernels.vocabulary.hashing_plain import HASH_START, HASH_STEP, n_slots


def hash_table(packed: NDArray[np.uint8], ends: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A table of the packed terms, filled in their order."""
    table = np.zeros(n_slots(len(ends)), dtype=np.uint32)
    fill_table(table, read_only(packed), read_only(ends))
    return table


def warm() -> None:
    """Compile everything here."""
    hash_table(np.zeros(1, np.uint8), np.ones(1, np.uint32))


@kernel
def fill_table(table: Any, packed: Any, ends: Any) -> None:
    """Put every term into the first free slot from that of its hash on, in column order."""
    begin, last = np.int64(0), np.uint32(len(table) - 1)
    for column in range(len(ends)):
        end = np.int64(ends[column])
        value = hashed(np.uint32(HASH_START), packed, begin, end)
        table[free_slot(table, value)] = (value & ~last) | np.uint32(column + 1)
        begin = end


@inner
def hashed(value: Any, packed: Any, begin: Any, end: Any) -> Any:
    """The FNV-1a hash `value` continued over packed[begin:end]."""
    for at in range(begin, end):
        value = np.uint32((value ^ np.uint32(packed[at])) * np.uint32(HASH_STEP))
    return value


@inner
def free_slot(table: Any, value: Any) -> Any:
    """The first free slot from that of a hash on; the search wraps around at the end."""
    last = len(table) - 1
    slot = np.int64(value) & last
    while table[slot] != 0:
        slot = (slot + 1) & last
    return slot


@inner
def column_of(terms: Any, key: Any, span: Any) -> Any:
    """The column of the term key[begin:end], −1 if there is none; `span` is (hash, begin, end)."""
    value, begin, end = span
    last = len(terms.table) - 1
    slot = np.int64(value) & last
    while True:
        entry = terms.table[slot]
        if entry == 0:
            return -1
        # An entry keeps the hash's bits above those of the slot number: equal ones cancel out.
        if (entry ^ value) <= last:
            column = (np.int64(entry) & last) - 1
            start = np.int64(terms.ends[column - 1]) if column else 0
            if equal_bytes(terms.packed, start, np.int64(terms.ends[column]), key, begin, end):
                return column
        slot = (slot + 1) & last


@inner
def equal_bytes(one: Any, begin: Any, end: Any, other: Any, first: Any, stop: Any) -> Any:
    """Whether one[begin:end] and other[first:stop] are equal."""
    if end - begin != stop - first:
        return False
    for i in range(end - begin):  # noqa: SIM110 (the compiler wants the loop)
        if one[begin + i] != other[first + i]:
            return False
    return True
