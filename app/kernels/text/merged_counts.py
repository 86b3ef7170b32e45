"""Counts of some documents each, put together: one vocabulary, and columns renumbered to it."""

from collections.abc import Iterable

import numpy as np

from app.kernels.text.counts import Counts
from app.kernels.vocabulary.merging import joined_vocabulary
from app.kernels.vocabulary.vocabulary import Vocabulary


def merged_counts(parts: Iterable[tuple[Vocabulary, Counts]]) -> tuple[Vocabulary, Counts]:
    """What `learn` gives for the documents of all parts, one part after the other.

    Both vocabularies are in code-point order, so that a row's columns rise as they did.
    """
    learnt, counted = zip(*parts, strict=True)
    vocabulary, columns_of = joined_vocabulary([_terms(own) for own in learnt])
    n_entries = sum(len(own.columns) for own in counted)
    columns, counts = np.empty(n_entries, np.int32), np.empty(n_entries, np.int32)
    at = 0
    for own, numbers in zip(counted, columns_of, strict=True):
        end = at + len(own.columns)
        columns[at:end], counts[at:end] = numbers[own.columns], own.counts
        at = end
    sizes = np.concatenate([np.diff(own.indptr) for own in counted])
    return vocabulary, Counts(np.concatenate(([0], np.cumsum(sizes))), columns, counts)


def _terms(vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The packed terms, and where each begins and ends."""
    ends = vocabulary.ends.astype(np.int64)
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    return vocabulary.packed, np.stack([starts, ends], axis=1)
