"""Counts → tf-idf weights, compiled: the same bits as app/kernels/text/tfidf_plain.py."""

from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import read_only
from app.kernels.compiler import inner, kernel
from app.kernels.text.counts import Counts

RAW, LOG, AUGMENTED = 0, 1, 2
FREQUENCIES = {"tfidf": RAW, "ntc": RAW, "log": LOG, "ltc": LOG, "atc": AUGMENTED}


def tfidf_weights(counts: Counts, idf: NDArray[np.float64], scheme: str) -> NDArray[np.float32]:
    """The weight of each count: tf · idf, each row then scaled to length 1."""
    weights = np.empty(len(counts.columns), dtype=np.float32)
    indptr, columns, numbers = (read_only(array) for array in counts)
    weigh_rows(indptr, columns, numbers, read_only(idf), FREQUENCIES[scheme], weights)
    return weights


def warm() -> None:
    """Compile everything here."""
    one = np.ones(1, dtype=np.int32)
    tfidf_weights(Counts(np.array([0, 1]), 0 * one, one), np.ones(1), "tfidf")


@kernel
def weigh_rows(
    indptr: Any, columns: Any, counts: Any, idf: Any, frequency: Any, weights: Any
) -> None:
    """Write the tf-idf weights of all rows."""
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    values = np.empty(longest, np.float64)
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        weigh(columns[begin:end], counts[begin:end], idf, frequency, values, weights[begin:end])


@inner
def weigh(columns: Any, counts: Any, idf: Any, frequency: Any, values: Any, weights: Any) -> None:
    """Write the tf-idf weights of one row; `values` is scratch.

    Sums run in float64 in the order of the columns: the plain version then has the same bits.
    """
    most, squares = np.int32(0), 0.0
    for i in range(len(columns)):
        most = max(most, counts[i])
    for i in range(len(columns)):
        value = term_frequency(counts[i], most, frequency) * idf[columns[i]]
        values[i] = value
        squares += value * value
    length = sqrt(squares) if squares > 0.0 else 1.0
    for i in range(len(columns)):
        weights[i] = values[i] / length


@inner
def term_frequency(count: Any, most: Any, frequency: Any) -> Any:
    """The term frequency of a count, by its scheme; `most` is the text's highest count."""
    if frequency == LOG:
        return log(np.float64(count)) + 1.0 if count > 1 else 1.0
    if frequency == AUGMENTED:
        return 0.5 + 0.5 * np.float64(count) / most
    return np.float64(count)
