"""Counts → tf-idf weights in numpy: the definition of tfidf.py, and used without a compiler."""

import numpy as np
from numpy.typing import NDArray

from app.kernels.text.counts import Counts


def tfidf_weights(counts: Counts, idf: NDArray[np.float64], scheme: str) -> NDArray[np.float32]:
    """The weight of each count: tf · idf, each row then scaled to length 1.

    Sums run in float64 in the order of the columns, so that every version gives the same bits.
    """
    rows = np.repeat(np.arange(len(counts.indptr) - 1), np.diff(counts.indptr))
    values = _term_frequency(counts, rows, scheme) * idf[counts.columns]
    squares = np.bincount(rows, values * values, minlength=len(counts.indptr) - 1)
    lengths = np.sqrt(squares)
    lengths[lengths == 0.0] = 1.0
    scaled: NDArray[np.float32] = (values / lengths[rows]).astype(np.float32)
    return scaled


def _term_frequency(counts: Counts, rows: NDArray[np.int64], scheme: str) -> NDArray[np.float64]:
    frequency = counts.counts.astype(np.float64)
    if scheme in ("log", "ltc"):
        return np.log(frequency) + 1.0
    if scheme == "atc":
        most = np.zeros(len(counts.indptr) - 1)
        np.maximum.at(most, rows, frequency)
        return 0.5 + 0.5 * frequency / most[rows]
    return frequency
