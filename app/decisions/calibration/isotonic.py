"""Isotonic regression: the rising curve nearest to the observed shares, by pooling violators."""

import numpy as np
from numpy.typing import NDArray


def isotonic_curve(
    scores: NDArray[np.float64], documents: NDArray[np.float64], marked: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Knots (score, probability) of a rising curve through groups given by rising score.

    Each pooled block becomes one knot at its mean score, so that between blocks the curve rises
    instead of standing still (centred isotonic regression). The shares are shrunk a little towards
    one half (a pair of imagined documents a block), so that no block says never or always.

    >>> x, p = isotonic_curve(np.array([0., 1, 2]), np.array([8., 8, 8]), np.array([1., 0, 8]))
    >>> x.tolist(), p.round(3).tolist()
    ([0.5, 2.0], [0.088, 0.944])
    """
    blocks: list[tuple[float, float, float]] = []  # Σ score·documents, documents, marked
    for x, n, m in zip(scores.tolist(), documents.tolist(), marked.tolist(), strict=True):
        block = (x * n, n, m)
        while blocks and _share(blocks[-1]) >= _share(block):
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    knots = np.array([total / n for total, n, _ in blocks])
    return knots, np.array([_share(block) for block in blocks])


def _share(block: tuple[float, float, float]) -> float:
    return (block[2] + 0.5) / (block[1] + 1)
