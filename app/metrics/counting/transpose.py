"""Transposes scores by documents into scores by labels, tile by tile: each fits the cache."""

import numpy as np
from numpy.typing import NDArray

TILE = 64


def transposed(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """The transposed matrix, contiguous.

    >>> transposed(np.float32([[1, 2, 3]])).tolist()
    [[1.0], [2.0], [3.0]]
    """
    n, m = scores.shape
    by_label = np.empty((m, n), scores.dtype)
    for row in range(0, n, TILE):
        for column in range(0, m, TILE):
            tile = scores[row : row + TILE, column : column + TILE]
            by_label[column : column + TILE, row : row + TILE] = tile.T
    return by_label
