"""Rows without the terms that a model does not know: a fold's own, or those not selected."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, row_chunks
from app.folds import Folds
from app.resources.scratch import release


def is_known(features: Features, terms: NDArray[Any], folds: Folds) -> NDArray[np.bool_]:
    """Whether each stored entry's term stands in a document that its fold's model is fitted to.

    `terms` are the entries' term numbers. Entries of documents that are never held out are known.
    """
    known = np.ones(len(terms), np.bool_)
    n_terms = int(terms.max(initial=-1)) + 1
    for inside, outside in folds.splits():
        is_inside, is_outside = np.zeros((2, features.shape[0]), np.bool_)
        is_inside[inside], is_outside[outside] = True, True
        is_seen = np.zeros(n_terms, np.bool_)
        for chunk in row_chunks(features.indptr):
            seen = np.repeat(is_outside[chunk.rows], chunk.sizes)
            is_seen[terms[chunk.entries][seen]] = True
            release(terms)
        for chunk in row_chunks(features.indptr):
            held_out = np.repeat(is_inside[chunk.rows], chunk.sizes)
            own = known[chunk.entries]
            own[held_out] = is_seen[terms[chunk.entries][held_out]]
            release(terms)
    return known


def rescaled(features: Features, is_kept: NDArray[np.bool_]) -> Features:
    """The rows with the other entries 0, scaled to length 1; a row without entries stays empty.

    The stored places stay the same, so that rows can be compared entry by entry.
    """
    values, total = np.empty(len(features.data), np.float32), 0.0
    for chunk in row_chunks(features.indptr):
        data, stays = features.data[chunk.entries], is_kept[chunk.entries]
        squares = np.where(stays, data.astype(np.float64) ** 2, 0.0)
        # The sum goes on from chunk to chunk, so that chunks of any size give the same bits.
        totals = np.cumsum(np.concatenate([[total], squares]))
        ends = np.concatenate([[0], np.cumsum(chunk.sizes)])
        lengths = np.sqrt(np.diff(totals[ends]))
        scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 1e-9)
        values[chunk.entries] = data * np.where(stays, np.repeat(scales, chunk.sizes), 0.0)
        total = totals[-1]
        release(features.data)
    return type(features)((values, features.indices, features.indptr), shape=features.shape)


def narrowed(features: Features, keep: NDArray[np.bool_]) -> Features:
    """The rows with the marked columns only, scaled to length 1."""
    rows = features[:, np.flatnonzero(keep)]
    return rescaled(rows, np.ones(rows.nnz, np.bool_))
