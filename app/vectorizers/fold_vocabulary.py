"""Rows without the terms that a model does not know: a fold's own, or those not selected."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features
from app.folds import Folds


def is_known(features: Features, terms: NDArray[Any], folds: Folds) -> NDArray[np.bool_]:
    """Whether each stored entry's term stands in a document that its fold's model is fitted to.

    `terms` are the entries' term numbers. Entries of documents that are never held out are known.
    """
    known = np.ones(len(terms), np.bool_)
    n_terms = int(terms.max(initial=-1)) + 1
    document_of = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    for inside, outside in folds.splits():
        is_inside, is_outside = np.zeros((2, features.shape[0]), np.bool_)
        is_inside[inside], is_outside[outside] = True, True
        is_seen = np.zeros(n_terms, np.bool_)
        is_seen[terms[is_outside[document_of]]] = True
        entries = np.flatnonzero(is_inside[document_of])
        known[entries] = is_seen[terms[entries]]
    return known


def rescaled(features: Features, is_kept: NDArray[np.bool_]) -> Features:
    """The rows with the other entries 0, scaled to length 1; a row without entries stays empty.

    The stored places stay the same, so that rows can be compared entry by entry.
    """
    squares = np.where(is_kept, features.data.astype(np.float64) ** 2, 0.0)
    totals = np.concatenate([[0.0], np.cumsum(squares)])
    lengths = np.sqrt(np.diff(totals[features.indptr]))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 1e-9)
    factors = np.where(is_kept, np.repeat(scales, np.diff(features.indptr)), 0.0)
    return type(features)(
        ((features.data * factors).astype(np.float32), features.indices, features.indptr),
        shape=features.shape,
    )


def narrowed(features: Features, keep: NDArray[np.bool_]) -> Features:
    """The rows with the marked columns only, scaled to length 1."""
    rows = features[:, np.flatnonzero(keep)]
    return rescaled(rows, np.ones(rows.nnz, np.bool_))
