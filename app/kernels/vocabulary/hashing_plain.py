"""The hash table of a vocabulary in plain Python: see vocabulary.py for its layout."""

import numpy as np
from numpy.typing import NDArray

HASH_START = 2166136261
HASH_STEP = 16777619
"""FNV-1a with 32 bits. A hash only says where to look: keys are always compared whole."""


def hash_table(packed: NDArray[np.uint8], ends: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A table of the packed terms, filled in their order."""
    slots = [0] * n_slots(len(ends))
    last = len(slots) - 1
    terms, begin = packed.tobytes(), 0
    for column, end in enumerate(ends.tolist()):
        value = hash_of(terms[begin:end])
        slot = value & last
        while slots[slot]:
            slot = (slot + 1) & last
        slots[slot], begin = (value & ~last) | (column + 1), end
    return np.array(slots, dtype=np.uint32)


def n_slots(n_terms: int) -> int:
    """A power of two at least twice the number of terms, so that probing stays short."""
    return 1 << max(3, (2 * n_terms - 1).bit_length())


def hash_of(key: bytes) -> int:
    """FNV-1a, 32 bits.

    >>> hash_of(b"") == HASH_START
    True
    """
    value = HASH_START
    for byte in key:
        value = ((value ^ byte) * HASH_STEP) & 0xFFFFFFFF
    return value
