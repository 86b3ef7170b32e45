"""The terms of several parts merged, sorted and packed as one vocabulary, compiled.

No term becomes a Python object on the way.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.compiler import inner, kernel
from app.kernels.vocabulary.hashing import hashed
from app.kernels.vocabulary.hashing_plain import HASH_START
from app.kernels.vocabulary.learning import grown, number_of

PREFIX = 8


def ordered(arena: NDArray[np.uint8], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of the terms arena[keys[i, 0]:keys[i, 1]] in the order of their bytes.

    That is code-point order, as UTF-8 keeps it. Sorting by the first eight bytes, as one integer,
    decides most of it; only terms with equal prefixes are compared byte by byte.
    """
    prefixes = prefixes_of(arena, keys)
    order = np.argsort(prefixes)
    sort_equal_prefixes(arena, keys, prefixes, order)
    return order


@kernel
def distinct(arena: Any, keys: Any) -> Any:
    """(the distinct terms in order of appearance, the number of each key's term)."""
    slots, terms = np.zeros(1 << 12, np.uint64), np.empty((1 << 12, 2), np.int64)
    numbers, n_terms = np.empty(len(keys), np.int64), np.int64(0)
    for i in range(len(keys)):
        slots, terms = grown(slots, terms, n_terms + 1)
        begin, end = keys[i, 0], keys[i, 1]
        value = hashed(np.uint32(HASH_START), arena, begin, end)
        numbers[i] = number_of(slots, terms, n_terms, arena, (value, begin, end))
        n_terms = max(n_terms, numbers[i] + 1)
    return terms[:n_terms].copy(), numbers


@kernel
def gathered(arena: Any, keys: Any, order: Any) -> Any:
    """(the bytes of the terms packed in this order, where each ends)."""
    ends, total = np.empty(len(order), np.int64), 0
    for column in range(len(order)):
        total += keys[order[column], 1] - keys[order[column], 0]
        ends[column] = total
    packed, at = np.empty(total, np.uint8), 0
    for number in order:
        for i in range(keys[number, 0], keys[number, 1]):
            packed[at] = arena[i]
            at += 1
    return packed, ends


@kernel
def prefixes_of(arena: Any, keys: Any) -> Any:
    """The first eight bytes of every term as a big-endian integer, padded with zeros."""
    prefixes = np.zeros(len(keys), np.uint64)
    for i in range(len(keys)):
        value = np.uint64(0)
        for at in range(keys[i, 0], keys[i, 0] + PREFIX):
            byte = arena[at] if at < keys[i, 1] else np.uint8(0)
            value = (value << np.uint64(8)) | np.uint64(byte)
        prefixes[i] = value
    return prefixes


@kernel
def sort_equal_prefixes(arena: Any, keys: Any, prefixes: Any, order: Any) -> None:
    """Sort the terms of every run with equal prefixes by all their bytes."""
    scratch = np.empty(len(order), np.int64)
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and prefixes[order[end]] == prefixes[order[begin]]:
            end += 1
        merge_sort(arena, keys, order[begin:end], scratch)
        begin = end


@inner
def merge_sort(arena: Any, keys: Any, order: Any, scratch: Any) -> None:
    """Sort terms by their bytes, merging runs of 1, 2, 4, … of them; stable."""
    width = 1
    while width < len(order):
        for begin in range(0, len(order), 2 * width):
            middle, end = min(begin + width, len(order)), min(begin + 2 * width, len(order))
            left, right = begin, middle
            for at in range(begin, end):
                takes_left = right >= end or (
                    left < middle and not is_less(arena, keys, order[right], order[left])
                )
                if takes_left:
                    scratch[at], left = order[left], left + 1
                else:
                    scratch[at], right = order[right], right + 1
        for at in range(len(order)):
            order[at] = scratch[at]
        width *= 2


@inner
def is_less(arena: Any, keys: Any, one: Any, other: Any) -> Any:
    """Whether one term's bytes come before another's; a prefix comes before what it begins."""
    begin, first = keys[one, 0], keys[other, 0]
    length, its_length = keys[one, 1] - begin, keys[other, 1] - first
    for i in range(min(length, its_length)):
        if arena[begin + i] != arena[first + i]:
            return arena[begin + i] < arena[first + i]
    return length < its_length
