"""Counting the terms of packed texts, compiled: known ones by lookup, new ones by learning."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.linear.array_table import text_forms
from app.kernels.simd import prefetch
from app.kernels.text.ngrams import STRIDE, cut_spans, n_spans_from
from app.kernels.text.segment import INSIDE_WORDS, WORDS, cut_units
from app.kernels.text.types import Segments, Spans
from app.kernels.vocabulary.hashing import found, same


@inner
def room_for_units(n_bytes: Any, analyzer: Any) -> Any:
    """Room for a text of so many bytes: blanks are added after (and before) each word."""
    n_cleaned = 3 * n_bytes + 3 if analyzer == INSIDE_WORDS else n_bytes + 1
    n_units = n_bytes // 2 + 2 if analyzer == WORDS else n_cleaned
    n_groups = n_bytes + 1 if analyzer == INSIDE_WORDS else 1
    return Segments(
        np.empty(n_cleaned, np.uint8),
        np.empty(n_units, np.int32),
        np.empty(n_units, np.int32),
        np.empty(n_units, np.uint32),
        np.empty(n_groups, np.int32),
    )


@inner
def room_for_spans(cutting: Any) -> Any:
    """Room for the terms of one stride of units."""
    n_spans = n_spans_from(cutting)
    return Spans(
        np.empty(n_spans, np.uint32),
        np.empty(n_spans, np.int32),
        np.empty(n_spans, np.int32),
        np.empty(n_spans, np.uint32),
        np.empty(n_spans, np.int64),
    )


@inner
def most_terms(n_bytes: Any, cutting: Any) -> Any:
    """No text of so many bytes has more terms than this."""
    lengths = cutting.longest - cutting.shortest + 1
    if cutting.analyzer == WORDS:
        return ((n_bytes + 1) // 3 + 1) * lengths
    return (n_bytes + 2) * lengths if cutting.analyzer == 1 else (2 * n_bytes + 2) * lengths


@inner
def look_up(text: Any, place: Any, cutting: Any, terms: Any, room: Any, columns: Any) -> Any:
    """How many known terms the text at `place` has; their columns are left as found."""
    units, spans = room
    _, n_groups = cut_units(text, place, cutting, units)
    n_columns, begin = 0, np.int64(0)
    for group in range(n_groups):
        end = np.int64(units.group_ends[group])
        for first in range(begin, end, STRIDE):
            firsts = (first, min(first + STRIDE, end))
            n_spans = cut_spans(units, firsts, (begin, end), cutting, spans)
            n_columns = find_all(terms, units.cleaned, spans, n_spans, columns, n_columns)
        begin = end
    return n_columns


@kernel
def find_all(terms: Any, key: Any, spans: Any, n_spans: Any, columns: Any, n_columns: Any) -> Any:
    """How many columns there are after those of the spans' terms have been added.

    Table, ends and terms are visited in loops of their own: the memory is waited for only once.
    """
    last = len(terms.table) - 1
    for i in range(n_spans):
        entry = terms.table[np.int64(spans.hashes[i]) & last]
        spans.entries[i] = entry
        prefetch(terms.ends, np.int64(entry) & last)
    for i in range(n_spans):
        column = (np.int64(spans.entries[i]) & last) - 1
        spans.term_starts[i] = terms.ends[column - 1] if column > 0 else 0
        prefetch(terms.packed, spans.term_starts[i])
    for i in range(n_spans):
        entry, value = spans.entries[i], spans.hashes[i]
        if entry == 0:
            continue
        column = (np.int64(entry) & last) - 1
        begin, end = spans.starts[i], spans.ends[i]
        is_first = (entry ^ value) <= last and same(
            terms.packed, spans.term_starts[i], np.int64(terms.ends[column]), key, begin, end
        )
        if not is_first:
            column = found(terms, key, (value, begin, end))
        if column >= 0:
            columns[n_columns] = column
            n_columns += 1
    return n_columns


@inner
def squeeze(columns: Any, n_columns: Any, counts: Any) -> Any:
    """Sort the columns, keep each once with its count; how many there are.

    `counts` has as much room as `columns`: it is also the other side of the sort.
    """
    sort(columns, counts, n_columns)
    n_kept = 0
    for i in range(n_columns):
        if n_kept and columns[n_kept - 1] == columns[i]:
            counts[n_kept - 1] += 1
        else:
            columns[n_kept], counts[n_kept] = columns[i], 1
            n_kept += 1
    return n_kept


@inner
def sort(numbers: Any, other: Any, n: Any) -> None:
    """Sort whole numbers >= 0 by their bytes, the lowest first; `other` is room to work in."""
    highest = 0
    for i in range(n):
        highest |= numbers[i]
    places = np.empty(256, np.int32)
    shift = 0
    while highest >> shift:
        places[:] = 0
        for i in range(n):
            places[(numbers[i] >> shift) & 255] += 1
        total = 0
        for digit in range(256):
            total, places[digit] = total + places[digit], total
        for i in range(n):
            digit = (numbers[i] >> shift) & 255
            other[places[digit]] = numbers[i]
            places[digit] += 1
        for i in range(n):
            numbers[i] = other[i]
        shift += 8


@kernel
def count_part(text: Any, ends: Any, part: Any, numbers: Any) -> Any:
    """(row sizes, columns, counts) of the texts from `part` (first, stop), one after the other."""
    first, stop = part
    cutting, terms = text_forms(numbers)
    longest = longest_text(ends, first, stop)
    room = (room_for_units(longest, cutting.analyzer), room_for_spans(cutting))
    begin = ends[first - 1] if first else 0
    most = most_terms(ends[stop - 1] - begin + 3 * (stop - first), cutting)
    columns, counts = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    sizes = np.empty(stop - first, np.int64)
    at = 0
    for i in range(first, stop):
        row, place = columns[at:], (begin, ends[i])
        n_columns = look_up(text, place, cutting, terms, room, row)
        sizes[i - first] = squeeze(row, n_columns, counts[at:])
        at += sizes[i - first]
        begin = ends[i]
    return sizes, columns[:at].copy(), counts[:at].copy()


@inner
def longest_text(ends: Any, first: Any, stop: Any) -> Any:
    """The most bytes of one text in a part."""
    longest, begin = 0, ends[first - 1] if first else 0
    for i in range(first, stop):
        longest, begin = max(longest, ends[i] - begin), ends[i]
    return longest
