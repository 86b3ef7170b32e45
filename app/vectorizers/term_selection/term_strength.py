"""Term strength: how often a term of one document stands in related documents, too."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features

DOCUMENTS = 4096
"""Documents that are compared with one another; of more, so many are drawn."""
RELATED = 10
"""How many related documents a document has on average: Yang and Pedersen had 10 to 20."""
ROWS = 512
BINS = 1000
SEED = 0


def term_strength(features: Features) -> NDArray[np.float64]:
    """P(term in y | term in x) over pairs (x, y) of related documents; 0 for terms of no pair.

    Rows must have length 1 or 0. Documents are related where the cosine of their rows is above a
    threshold, chosen such that each of them has about `RELATED` others. Labels take no part
    (Wilbur and Sirotkin 1992; Yang and Pedersen 1997, section 2.5).
    """
    rows = _drawn(features)
    threshold = _threshold(rows)
    shared, met = np.zeros((2, rows.shape[1]))
    presence = csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    for start, cosines in _cosines(rows):
        related = csr_array((cosines > threshold).astype(np.float64))
        own = presence[start : start + ROWS]
        shared += own.multiply(related @ presence).sum(axis=0)
        met += own.T @ related.sum(axis=1)
    return np.asarray(np.divide(shared, met, out=np.zeros_like(met), where=met > 0))


def _drawn(features: Features) -> Features:
    """The rows, or some of them, always the same."""
    n_documents = features.shape[0]
    if n_documents <= DOCUMENTS:
        return features
    drawn = np.random.default_rng(SEED).choice(n_documents, DOCUMENTS, replace=False)
    return features[np.sort(drawn)]


def _threshold(rows: Features) -> float:
    """The highest cosine, in steps of 1/BINS, above which there are enough pairs."""
    counts = np.zeros(BINS, np.int64)
    for _, cosines in _cosines(rows):
        bins = np.minimum(cosines[cosines > 0] * BINS, BINS - 1).astype(np.int64)
        counts += np.bincount(bins, minlength=BINS)
    pairs_above = np.cumsum(counts[::-1])[::-1]
    enough = np.flatnonzero(pairs_above >= RELATED * rows.shape[0])
    return float(enough[-1] / BINS) if len(enough) else 0.0


def _cosines(rows: Features) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The first row of each block, and its cosines with all rows; a row's with itself is 0."""
    for start in range(0, rows.shape[0], ROWS):
        block = (rows[start : start + ROWS] @ rows.T).toarray()
        block[np.arange(len(block)), start + np.arange(len(block))] = 0.0
        yield start, block
