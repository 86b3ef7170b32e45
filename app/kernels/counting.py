"""Counting the terms of packed texts, compiled: known ones by lookup, new ones by learning."""

from typing import Any

import numpy as np

from app.kernels.compiler import kernel
from app.kernels.forms import Spans, Units
from app.kernels.hashing import found, free_slot, same
from app.kernels.ngrams import STRIDE, cut_spans, n_spans_from
from app.kernels.units import INSIDE_WORDS, WORDS, cut_units

MASK = 0xFFFFFFFF


@kernel
def room_for_units(n_bytes: Any, analyzer: Any) -> Any:
    """Room for a text of so many bytes: blanks are added after (and before) each word."""
    n_cleaned = 3 * n_bytes + 3 if analyzer == INSIDE_WORDS else n_bytes + 1
    n_units = n_bytes // 2 + 2 if analyzer == WORDS else n_cleaned
    n_groups = n_bytes + 1 if analyzer == INSIDE_WORDS else 1
    return Units(
        np.empty(n_cleaned, np.uint8),
        np.empty(n_units, np.int32),
        np.empty(n_units, np.int32),
        np.empty(n_groups, np.int32),
    )


@kernel
def room_for_spans(cutting: Any) -> Any:
    """Room for the terms of one stride of units."""
    n_spans = n_spans_from(cutting)
    return Spans(
        np.empty(n_spans, np.uint32), np.empty(n_spans, np.int32), np.empty(n_spans, np.int32)
    )


@kernel
def most_terms(n_bytes: Any, cutting: Any) -> Any:
    """No text of so many bytes has more terms than this."""
    lengths = cutting.longest - cutting.shortest + 1
    if cutting.analyzer == WORDS:
        return ((n_bytes + 1) // 3 + 1) * lengths
    return (n_bytes + 2) * lengths if cutting.analyzer == 1 else (2 * n_bytes + 2) * lengths


@kernel
def look_up(
    text: Any, place: Any, cutting: Any, terms: Any, units: Any, spans: Any, columns: Any
) -> Any:
    """How many known terms the text at `place` has; their columns are left in `columns`, as found."""
    n_units, n_groups = cut_units(text, place, cutting, units)
    n_columns, begin = 0, 0
    for group in range(n_groups):
        end = units.group_ends[group]
        for first in range(begin, end, STRIDE):
            stop = min(first + STRIDE, end)
            n_spans = cut_spans(units, (first, stop), (begin, end), cutting, spans)
            for i in range(n_spans):
                span = (spans.hashes[i], spans.starts[i], spans.ends[i])
                column = found(terms.table, terms.packed, terms.ends, units.cleaned, span)
                if column >= 0:
                    columns[n_columns] = column
                    n_columns += 1
        begin = end
    return n_columns


@kernel
def squeeze(columns: Any, n_columns: Any, counts: Any) -> Any:
    """Sort the columns, keep each once with its count; how many there are."""
    columns[:n_columns].sort()
    n_kept = 0
    for i in range(n_columns):
        if n_kept and columns[n_kept - 1] == columns[i]:
            counts[n_kept - 1] += 1
        else:
            columns[n_kept], counts[n_kept] = columns[i], 1
            n_kept += 1
    return n_kept


@kernel
def count_part(text: Any, ends: Any, part: Any, cutting: Any, terms: Any) -> Any:
    """(row sizes, columns, counts) of the texts from `part` (first, stop), one after the other."""
    first, stop = part
    longest = longest_text(ends, first, stop)
    units, spans = room_for_units(longest, cutting.analyzer), room_for_spans(cutting)
    begin = ends[first - 1] if first else 0
    most = most_terms(ends[stop - 1] - begin + 3 * (stop - first), cutting)
    columns, counts = np.empty(most, np.int32), np.empty(most, np.int32)
    sizes = np.empty(stop - first, np.int64)
    at = 0
    for i in range(first, stop):
        row, place = columns[at:], (begin, ends[i])
        n_columns = look_up(text, place, cutting, terms, units, spans, row)
        sizes[i - first] = squeeze(row, n_columns, counts[at:])
        at += sizes[i - first]
        begin = ends[i]
    return sizes, columns[:at].copy(), counts[:at].copy()


@kernel
def longest_text(ends: Any, first: Any, stop: Any) -> Any:
    """The most bytes of one text in a part."""
    longest, begin = 0, ends[first - 1] if first else 0
    for i in range(first, stop):
        longest, begin = max(longest, ends[i] - begin), ends[i]
    return longest
