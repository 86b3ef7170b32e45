"""Weights of learners that give every label a weight for every term: their bound and their form."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.errors import InvalidRequestError

MOST_WEIGHTS = 2**27
"""So many are 0.5 GB, and three times that while they are brought into their form."""
CELLS_AT_ONCE = 2**22


def check_size(learner: str, n_features: int, n_labels: int) -> None:
    """Refuse, before any work, what would not fit into memory."""
    if n_features * n_labels > MOST_WEIGHTS:
        raise InvalidRequestError(
            f"{learner} needs a weight for each of {n_features:,} terms and {n_labels:,} labels, "
            f"at most {MOST_WEIGHTS:,} in all; keep fewer terms (features.max_features)"
        )


def label_blocks(n_features: int, n_labels: int) -> Iterator[slice]:
    """Neighbouring labels, so many together as have `CELLS_AT_ONCE` weights.

    >>> list(label_blocks(2**21, 3))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    width = max(1, CELLS_AT_ONCE // max(n_features, 1))
    for first in range(0, n_labels, width):
        yield slice(first, min(first + width, n_labels))


def full_rows(weights: NDArray[np.float32], is_kept: NDArray[np.bool_]) -> csr_array:
    """CSR weights (features, labels), a row for each feature that is kept; zeros are left out.

    The values are those given, not a copy: of 2**27 weights a copy is half a gigabyte.
    """
    n_labels = weights.shape[1]
    labels = np.tile(np.arange(n_labels, dtype=np.int32), len(weights))
    starts = np.concatenate([[0], np.cumsum(is_kept * n_labels)])
    matrix = csr_array((weights.ravel(), labels, starts), shape=(len(is_kept), n_labels))
    matrix.eliminate_zeros()
    return matrix
