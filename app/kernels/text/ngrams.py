"""The terms that start at some units of a text, compiled: n-grams with their hashes."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.vocabulary.hashing import hashed
from app.kernels.vocabulary.hashing_plain import HASH_START

STRIDE = 256
"""So many units are worked on at once: the room that their terms need stays in the cache."""


@inner
def n_spans_from(cutting: Any) -> Any:
    """How much room the terms of one stride of units need."""
    return STRIDE * (cutting.longest - cutting.shortest + 1)


@kernel
def cut_spans(units: Any, firsts: Any, group: Any, cutting: Any, spans: Any) -> Any:
    """How many terms start at the units from `firsts` on, within `group` (begin, end).

    A group that is shorter than the shortest term is one term, whole; a list of words is none.
    """
    first, stop = firsts
    n_spans = 0
    if cutting.analyzer == 2 and group[1] - group[0] < cutting.shortest:
        stop = first
        if first == group[0]:
            begin, end = units.starts[group[0]], units.ends[group[1] - 1]
            spans.hashes[0] = hashed(np.uint32(HASH_START), units.cleaned, begin, end)
            spans.starts[0], spans.ends[0] = begin, end
            n_spans = 1
    for unit in range(first, stop):
        value, begin, at = units.hashes[unit], units.starts[unit], units.ends[unit]
        for last in range(unit, min(unit + cutting.longest, group[1])):
            value = hashed(value, units.cleaned, at, units.ends[last])
            at = units.ends[last]
            if last - unit + 1 >= cutting.shortest:
                spans.hashes[n_spans] = value
                spans.starts[n_spans], spans.ends[n_spans] = begin, at
                n_spans += 1
    return n_spans
