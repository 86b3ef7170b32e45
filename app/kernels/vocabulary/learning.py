"""The terms of packed texts, numbered in order of appearance, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel, outlined
from app.kernels.text.counting import (
    count_columns,
    longest_text,
    max_terms,
    new_segments,
    new_spans,
    text_table,
)
from app.kernels.text.ngrams import STRIDE, list_ngrams
from app.kernels.text.segment import segment
from app.kernels.text.types import Segments
from app.kernels.vocabulary.hashing import equal_bytes, free_slot

MASK = 0xFFFFFFFF
FIRST_SLOTS = 1 << 12


@kernel
def learn_texts(text: Any, ends: Any, part: Any, table: Any) -> Any:
    """The terms of the texts from `part` (first, stop), as numbers and as bytes.

    Row sizes; term numbers, with repetitions; an arena of bytes; and where in the arena each
    number's term stands (begin, end).
    """
    first, stop = part
    segmentation = text_table(table).segmentation
    segments = new_segments(longest_text(ends, first, stop), segmentation.analyzer)
    spans, begin = new_spans(segmentation), ends[first - 1] if first else 0
    n_bytes = ends[stop - 1] - begin + 3 * (stop - first)  # blanks may pad each text
    arena = new_segments(n_bytes, segmentation.analyzer).cleaned
    numbers = np.empty(max_terms(n_bytes, segmentation), np.int32)
    sizes = np.empty(stop - first, np.int64)
    slots, keys = np.zeros(FIRST_SLOTS, np.uint64), np.empty((FIRST_SLOTS, 2), np.int64)
    n_keys, at, used = np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, stop):
        here = Segments(
            arena[used:], segments.starts, segments.ends, segments.hashes, segments.group_ends
        )
        n_tokens, n_groups = segment(text, (begin, ends[i]), segmentation, here)
        n_before, start, first_token = n_keys, at, np.int64(0)
        for group in range(n_groups):
            stop_token = np.int64(here.group_ends[group])
            for token in range(first_token, stop_token, STRIDE):
                firsts = (token, min(token + STRIDE, stop_token))
                n_spans = list_ngrams(here, firsts, (first_token, stop_token), segmentation, spans)
                slots, keys = grown(slots, keys, n_keys + n_spans)  # as if all were new
                for j in range(n_spans):
                    span = (spans.hashes[j], used + spans.starts[j], used + spans.ends[j])
                    number = number_of(slots, keys, n_keys, arena, span)
                    n_keys = max(n_keys, number + 1)
                    numbers[at] = number
                    at += 1
            first_token = stop_token
        if n_keys > n_before:  # else no key points to these bytes: the next text overwrites them
            used += here.ends[n_tokens - 1] + 1  # a word has a blank after it
        sizes[i - first], begin = at - start, ends[i]
    return sizes, numbers[:at].copy(), arena[:used].copy(), keys[:n_keys].copy()


@inner
def number_of(slots: Any, keys: Any, n_keys: Any, arena: Any, span: Any) -> Any:
    """The number of the term at `span` (hash, begin, end): `n_keys` if it is new, and added.

    A slot is 0 when free, else the term's hash above 32 bits of its number + 1.
    """
    value, begin, end = span
    last = len(slots) - 1
    slot = np.int64(value) & last
    while slots[slot] != 0:
        entry = slots[slot]
        if np.uint32(entry >> np.uint64(32)) == value:
            number = np.int64(entry & np.uint64(MASK)) - 1
            if equal_bytes(arena, keys[number, 0], keys[number, 1], arena, begin, end):
                return number
        slot = (slot + 1) & last
    slots[slot] = (np.uint64(value) << np.uint64(32)) | np.uint64(n_keys + 1)
    keys[n_keys, 0], keys[n_keys, 1] = begin, end
    return n_keys


@outlined
def grown(slots: Any, keys: Any, n_keys: Any) -> Any:
    """The slots and keys, in larger arrays if so many keys would fill more than half of them."""
    if 2 * n_keys <= len(slots):
        return slots, keys
    n_slots = len(slots)
    while n_slots < 4 * n_keys:
        n_slots *= 2
    more_slots, more_keys = np.zeros(n_slots, np.uint64), np.empty((n_slots, 2), np.int64)
    for i in range(len(keys)):  # a loop compiles in a tenth of the time of a slice of rows
        more_keys[i, 0], more_keys[i, 1] = keys[i, 0], keys[i, 1]
    for entry in slots:
        if entry != 0:
            more_slots[free_slot(more_slots, np.uint32(entry >> np.uint64(32)))] = entry
    return more_slots, more_keys


@kernel
def renumbered(sizes: Any, numbers: Any, columns_of: Any) -> Any:
    """(row sizes, columns, counts) from numbers with repetitions and the column of each number."""
    columns, counts = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.int32)
    new_sizes = np.empty(len(sizes), np.int64)
    begin, at = 0, 0
    for i in range(len(sizes)):
        row = columns[at:]
        for j in range(sizes[i]):
            row[j] = columns_of[numbers[begin + j]]
        new_sizes[i] = count_columns(row, sizes[i], counts[at:])
        begin, at = begin + sizes[i], at + new_sizes[i]
    return new_sizes, columns[:at].copy(), counts[:at].copy()
