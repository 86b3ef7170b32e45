"""Learning the terms of packed texts, compiled: every new term gets the next number."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.linear.array_table import text_forms
from app.kernels.text.counting import (
    longest_text,
    most_terms,
    room_for_spans,
    room_for_units,
    squeeze,
)
from app.kernels.text.ngrams import STRIDE, cut_spans
from app.kernels.text.segment import cut_units
from app.kernels.text.types import Segments
from app.kernels.vocabulary.hashing import free_slot, same

MASK = 0xFFFFFFFF
FIRST_SLOTS = 1 << 12


@kernel
def learn_part(text: Any, ends: Any, part: Any, flat: Any) -> Any:
    """The terms of some texts as found, and as numbers.

    Row sizes, numbers (with repetitions), bytes, and where in the bytes each number's term stands.
    """
    first, stop = part
    cutting, _ = text_forms(flat)
    units = room_for_units(longest_text(ends, first, stop), cutting.analyzer)
    spans, begin = room_for_spans(cutting), ends[first - 1] if first else 0
    n_bytes = ends[stop - 1] - begin + 3 * (stop - first)
    arena = room_for_units(n_bytes, cutting.analyzer).cleaned
    numbers, sizes = (
        np.empty(most_terms(n_bytes, cutting), np.int32),
        np.empty(stop - first, np.int64),
    )
    table, keys, n_keys = np.zeros(FIRST_SLOTS, np.uint64), np.empty((FIRST_SLOTS, 2), np.int64), 0
    at, used = 0, 0
    for i in range(first, stop):
        here = Segments(arena[used:], units.starts, units.ends, units.hashes, units.group_ends)
        n_units, n_groups = cut_units(text, (begin, ends[i]), cutting, here)
        n_before, start, begin_unit = n_keys, at, np.int64(0)
        for group in range(n_groups):
            end_unit = np.int64(here.group_ends[group])
            for unit in range(begin_unit, end_unit, STRIDE):
                last = min(unit + STRIDE, end_unit)
                n_spans = cut_spans(here, (unit, last), (begin_unit, end_unit), cutting, spans)
                table, keys = with_room(table, keys, n_keys + n_spans)
                for j in range(n_spans):
                    span = (spans.hashes[j], used + spans.starts[j], used + spans.ends[j])
                    number = numbered(table, keys, n_keys, arena, span)
                    n_keys = max(n_keys, number + 1)
                    numbers[at] = number
                    at += 1
            begin_unit = end_unit
        if n_keys > n_before:  # else nobody needs these bytes: the next text may overwrite them
            used += here.ends[n_units - 1] + 1
        sizes[i - first], begin = at - start, ends[i]
    return sizes, numbers[:at].copy(), arena[:used].copy(), keys[:n_keys].copy()


@inner
def numbered(table: Any, keys: Any, n_keys: Any, arena: Any, span: Any) -> Any:
    """The number of the term at `span` (hash, begin, end): its old one, or the next."""
    value, begin, end = span
    last = len(table) - 1
    slot = np.int64(value) & last
    while table[slot] != 0:
        entry = table[slot]
        if np.uint32(entry >> np.uint64(32)) == value:
            number = np.int64(entry & np.uint64(MASK)) - 1
            if same(arena, keys[number, 0], keys[number, 1], arena, begin, end):
                return number
        slot = (slot + 1) & last
    table[slot] = (np.uint64(value) << np.uint64(32)) | np.uint64(n_keys + 1)
    keys[n_keys, 0], keys[n_keys, 1] = begin, end
    return n_keys


@kernel
def with_room(table: Any, keys: Any, n_keys: Any) -> Any:
    """Table and keys, larger ones if they would be more than half full."""
    if 2 * n_keys <= len(table):
        return table, keys
    n_slots = len(table)
    while n_slots < 4 * n_keys:
        n_slots *= 2
    larger, more_keys = np.zeros(n_slots, np.uint64), np.empty((n_slots, 2), np.int64)
    for i in range(len(keys)):  # a loop compiles in a tenth of the time of a slice of rows
        more_keys[i, 0], more_keys[i, 1] = keys[i, 0], keys[i, 1]
    for entry in table:
        if entry != 0:
            larger[free_slot(larger, np.uint32(entry >> np.uint64(32)))] = entry
    return larger, more_keys


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
        new_sizes[i] = squeeze(row, sizes[i], counts[at:])
        begin, at = begin + sizes[i], at + new_sizes[i]
    return new_sizes, columns[:at].copy(), counts[:at].copy()
