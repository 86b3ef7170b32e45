"""What a fold's model cannot know: terms that stand in held-out documents alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features


def is_known(features: Features, terms: NDArray[Any], folds: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each stored entry's term stands in a document of another fold, too.

    `terms` are the entries' term numbers, `folds` the fold of every document. A model that was
    fitted without a document's fold has never seen the other terms.
    """
    fold_of = np.repeat(folds.astype(np.int32), np.diff(features.indptr))
    size = int(terms.max(initial=-1)) + 1
    lowest = np.full(size, np.iinfo(np.int32).max, np.int32)
    highest = np.full(size, -1, np.int32)
    np.minimum.at(lowest, terms, fold_of)
    np.maximum.at(highest, terms, fold_of)
    known: NDArray[np.bool_] = (lowest < highest)[terms]
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
