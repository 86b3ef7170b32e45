"""The terms that are kept: the best by one measure, over all labels."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Truth
from app.vectorizers.term_selection.measures import MEASURES, DocumentCounts
from app.vectorizers.term_selection.term_strength import term_strength

SELECTIONS = ("df", *MEASURES, "ts")
OVER = ("max", "mean")
CELLS = 2**21
"""Pairs of label and term that are measured at once: all of them would not fit into memory."""


def chosen_terms(
    features: Features, truth: Truth, *, select: str, keep: int, over: str
) -> NDArray[np.bool_]:
    """Marks the `keep` columns of highest value; ties go to the lower column.

    A column without an entry is never kept, so that fewer may be.
    """
    values = term_values(features, truth, select, over)
    values[_frequencies(features) == 0] = -np.inf
    best = np.argsort(-values, kind="stable")[:keep]
    is_kept = np.zeros(len(values), np.bool_)
    is_kept[best] = True
    return is_kept & (_frequencies(features) > 0)


def term_values(
    features: Features, truth: Truth, select: str, over: str = "max"
) -> NDArray[np.float64]:
    """Each column's value: its document frequency, its strength, or what it tells of the labels.

    Over labels it is the greatest, or the mean weighted by the labels' numbers of documents. A
    label and a term that never meet count as 0 in a mean of `mi`.
    """
    if select == "df":
        return _frequencies(features).astype(np.float64)
    if select == "ts":
        return term_strength(features)
    values = np.full(features.shape[1], -np.inf if over == "max" else 0.0)
    n_pairs = max(truth.nnz, 1)
    for counts in document_counts(features, truth):
        measured = MEASURES[select](counts)
        if over == "max":
            np.maximum(values, measured.max(axis=0), out=values)
        else:
            values += (counts.labels / n_pairs) @ np.where(np.isfinite(measured), measured, 0.0)
    return values


def document_counts(features: Features, truth: Truth) -> Iterator[DocumentCounts]:
    """The counts of all terms and some labels at a time; labels of no document are left out."""
    n_documents, n_terms = features.shape
    ones = np.ones(features.nnz, np.int64)
    presence = csr_array((ones, features.indices, features.indptr), shape=features.shape)
    frequencies, by_label = _frequencies(features), csc_array(truth, dtype=np.int64)
    sizes = np.diff(by_label.indptr).astype(np.int64)
    labels, step = np.flatnonzero(sizes), max(1, CELLS // max(n_terms, 1))
    for start in range(0, len(labels), step):
        some = labels[start : start + step]
        both = (by_label[:, some].T @ presence).toarray()
        yield DocumentCounts(both, sizes[some], frequencies, n_documents)


def _frequencies(features: Features) -> NDArray[np.int64]:
    """In how many rows each column has an entry."""
    return np.bincount(features.indices, minlength=features.shape[1])
