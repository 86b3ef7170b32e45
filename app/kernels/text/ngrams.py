"""The n-grams that start at some tokens of a text, with their hashes, compiled."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, outlined
from app.kernels.text.segment import INSIDE_WORDS
from app.kernels.vocabulary.hashing import hashed
from app.kernels.vocabulary.hashing_plain import HASH_START

STRIDE = 256
"""Tokens whose n-grams are listed and looked up together: their buffers stay in the L1 cache."""


@inner
def max_spans(segmentation: Any) -> Any:
    """The most n-grams that start at one stride of tokens."""
    return STRIDE * (segmentation.longest - segmentation.shortest + 1)


@outlined
def list_ngrams(segments: Any, firsts: Any, group: Any, segmentation: Any, spans: Any) -> Any:
    """Write the n-grams that start at tokens `firsts` (first, stop) to `spans`; how many.

    They stay within `group` (begin, end). Inside words, a group that is shorter than the shortest
    n-gram is one n-gram, whole; too few words are none.
    """
    first, stop = firsts
    n_spans = 0
    if segmentation.analyzer == INSIDE_WORDS and group[1] - group[0] < segmentation.shortest:
        stop = first
        if first == group[0]:  # once a group, also where a group has several strides
            begin, end = segments.starts[group[0]], segments.ends[group[1] - 1]
            spans.hashes[0] = hashed(np.uint32(HASH_START), segments.cleaned, begin, end)
            spans.starts[0], spans.ends[0] = begin, end
            n_spans = 1
    for token in range(first, stop):
        # FNV-1a goes byte by byte: the hash of an n-gram continues that of the one shorter.
        value, begin, at = segments.hashes[token], segments.starts[token], segments.ends[token]
        for last in range(token, min(token + segmentation.longest, group[1])):
            value = hashed(value, segments.cleaned, at, segments.ends[last])
            at = segments.ends[last]
            if last - token + 1 >= segmentation.shortest:
                spans.hashes[n_spans] = value
                spans.starts[n_spans], spans.ends[n_spans] = begin, at
                n_spans += 1
    return n_spans
