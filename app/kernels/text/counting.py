"""The known terms of packed texts, looked up and counted, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel, outlined
from app.kernels.intrinsics import prefetch, table_reader
from app.kernels.text.ngrams import STRIDE, list_ngrams, max_spans
from app.kernels.text.segment import CHARACTERS, INSIDE_WORDS, WORDS, segment
from app.kernels.text.types import Segments, Spans, TextTable
from app.kernels.vocabulary.hashing import column_of, equal_bytes

text_table = table_reader(TextTable)


@kernel
def count_texts(text: Any, ends: Any, part: Any, table: Any) -> Any:
    """(row sizes, columns, counts) of the texts from `part` (first, stop), one after the other."""
    first, stop = part
    texts = text_table(table)
    longest = longest_text(ends, first, stop)
    buffers = new_tokens(longest, texts.segmentation)
    begin = ends[first - 1] if first else 0
    # All texts as one would lack the blanks that may pad each: three bytes a text make up for it.
    most = max_columns(ends[stop - 1] - begin + 3 * (stop - first), texts)
    columns, counts = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    sizes = np.empty(stop - first, np.int64)
    at = 0
    for i in range(first, stop):
        row = columns[at:]
        n_columns = known_columns(text, (begin, ends[i]), texts, buffers, row)
        sizes[i - first] = count_columns(row, n_columns, counts[at:])
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


@inner
def new_tokens(n_bytes: Any, segmentation: Any) -> Any:
    """Buffers for the tokens and n-grams of any text of so many bytes."""
    return new_segments(n_bytes, segmentation.analyzer), new_spans(segmentation)


@inner
def new_segments(n_bytes: Any, analyzer: Any) -> Any:
    """Buffers for the tokens of any text of so many bytes.

    A blank follows each word; inside words one comes before it as well, so a text of one-letter
    words triples. A word has at least two letters, and something that is none after it.
    """
    n_cleaned = 3 * n_bytes + 3 if analyzer == INSIDE_WORDS else n_bytes + 1
    n_tokens = n_bytes // 2 + 2 if analyzer == WORDS else n_cleaned
    n_groups = n_bytes + 1 if analyzer == INSIDE_WORDS else 1
    return Segments(
        np.empty(n_cleaned, np.uint8),
        np.empty(n_tokens, np.int32),
        np.empty(n_tokens, np.int32),
        np.empty(n_tokens, np.uint32),
        np.empty(n_groups, np.int32),
    )


@inner
def new_spans(segmentation: Any) -> Any:
    """Buffers for the n-grams of one stride of tokens."""
    n_spans = max_spans(segmentation)
    return Spans(
        np.empty(n_spans, np.uint32),
        np.empty(n_spans, np.int32),
        np.empty(n_spans, np.int32),
        np.empty(n_spans, np.uint32),
        np.empty(n_spans, np.int64),
    )


@inner
def max_terms(n_bytes: Any, segmentation: Any) -> Any:
    """The most terms, with repetitions, that a text of so many bytes can have."""
    lengths = segmentation.longest - segmentation.shortest + 1
    if segmentation.analyzer == WORDS:  # two letters and what ends the word
        return ((n_bytes + 1) // 3 + 1) * lengths
    if segmentation.analyzer == CHARACTERS:
        return (n_bytes + 2) * lengths
    return (2 * n_bytes + 2) * lengths


@inner
def max_columns(n_bytes: Any, texts: Any) -> Any:
    """The most columns, with repetitions, that a text of so many bytes can have."""
    return max_terms(n_bytes, texts.segmentation) * (1 + len(texts.leads.lengths))


@inner
def known_columns(text: Any, span: Any, texts: Any, buffers: Any, columns: Any) -> Any:
    """Write the columns of a text's known terms, unsorted and with repetitions; how many."""
    segments, leads = buffers[0], texts.leads
    n_tokens, n_groups = segment(text, span, texts.segmentation, segments)
    n_columns, begin = np.int64(0), np.int64(0)
    for group in range(n_groups):
        end = np.int64(segments.group_ends[group])
        n_columns = look_up_tokens(texts, buffers, (begin, end), columns, n_columns)
        begin = end
    for lead in range(len(leads.lengths)):
        end = min(leads.lengths[lead], np.int64(n_tokens))
        stop = look_up_tokens(texts, buffers, (np.int64(0), end), columns, n_columns)
        first_column = lead * len(texts.terms.ends)
        for i in range(n_columns, stop):
            column = leads.columns[first_column + columns[i]]
            if column >= 0:
                columns[n_columns] = column
                n_columns += 1
    return n_columns


@inner
def look_up_tokens(texts: Any, buffers: Any, group: Any, columns: Any, n_columns: Any) -> Any:
    """Append the columns of the n-grams within `group` (begin, end); how many there are then."""
    segments, spans = buffers
    for first in range(group[0], group[1], STRIDE):
        firsts = (first, min(first + STRIDE, group[1]))
        n_spans = list_ngrams(segments, firsts, group, texts.segmentation, spans)
        n_columns = look_up(texts.terms, segments.cleaned, spans, n_spans, columns, n_columns)
    return n_columns


@outlined
def look_up(terms: Any, key: Any, spans: Any, n_spans: Any, columns: Any, n_columns: Any) -> Any:
    """Append the columns of the spans' terms to `columns`, which has `n_columns`; how many then.

    Hash table, term ends and term bytes are each read in a loop of their own, the next prefetched
    by the one before: the cache misses of all spans overlap, instead of following one another.
    """
    last = len(terms.table) - 1
    for i in range(n_spans):
        entry = terms.table[np.int64(spans.hashes[i]) & last]
        spans.entries[i] = entry
        prefetch(terms.ends, np.int64(entry) & last)
    for i in range(n_spans):
        column = (np.int64(spans.entries[i]) & last) - 1  # −1 where the slot is free
        spans.term_starts[i] = terms.ends[column - 1] if column > 0 else 0
        prefetch(terms.packed, spans.term_starts[i])
    for i in range(n_spans):
        entry, value = spans.entries[i], spans.hashes[i]
        if entry == 0:
            continue
        column = (np.int64(entry) & last) - 1
        begin, end = spans.starts[i], spans.ends[i]
        is_in_first_slot = (entry ^ value) <= last and equal_bytes(
            terms.packed, spans.term_starts[i], np.int64(terms.ends[column]), key, begin, end
        )
        if not is_in_first_slot:  # rare: probe the slots after it
            column = column_of(terms, key, (value, begin, end))
        if column >= 0:
            columns[n_columns] = column
            n_columns += 1
    return n_columns


@inner
def count_columns(columns: Any, n_columns: Any, counts: Any) -> Any:
    """Sort the columns and leave each once, with its count; how many are left.

    `counts` is as long as `columns`: it is also the scratch of the sort.
    """
    radix_sort(columns, counts, n_columns)
    n_kept = 0
    for i in range(n_columns):
        if n_kept and columns[n_kept - 1] == columns[i]:
            counts[n_kept - 1] += 1
        else:
            columns[n_kept], counts[n_kept] = columns[i], 1
            n_kept += 1
    return n_kept


@inner
def radix_sort(numbers: Any, scratch: Any, n: Any) -> None:
    """Sort whole numbers >= 0 by their bytes, the lowest first, as far as any number reaches."""
    highest = 0  # all numbers or-ed: its highest bit is that of the largest
    for i in range(n):
        highest |= numbers[i]
    starts = np.empty(256, np.int32)
    shift = 0
    while highest >> shift:
        starts[:] = 0
        for i in range(n):
            starts[(numbers[i] >> shift) & 255] += 1
        total = 0  # counts become the starts of the digits' runs
        for digit in range(256):
            total, starts[digit] = total + starts[digit], total
        for i in range(n):
            digit = (numbers[i] >> shift) & 255
            scratch[starts[digit]] = numbers[i]
            starts[digit] += 1
        for i in range(n):
            numbers[i] = scratch[i]
        shift += 8
