"""Linear least squares fit: the weights that map documents to their labels with least error.

After Yang & Chute (1994) and Yang (1999): the system XW = Y is solved through the largest singular
vectors of X, so that what is noise in the training documents is not fitted.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.learners.base import LTC_FEATURES, Fitting
from app.learners.linear.dense_weights import check_size, full_rows
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner

OVERSAMPLING, POWER_STEPS = 10, 2
SMALLEST = 1e-6
"""Singular values below this share of the largest count as 0."""


class Llsf(LinearLearner):
    """W = V S⁻¹ Uᵀ Y for the `rank` largest singular values S of the documents X = U S Vᵀ."""

    kind: ClassVar[str] = "llsf"
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(self, rank: int = 500) -> None:
        if rank < 1:
            raise InvalidRequestError("llsf rank: a whole number, 1 or more")
        self.rank = rank

    def settings(self) -> dict[str, Any]:
        """How many singular vectors are kept."""
        return {"rank": self.rank}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Solve for all labels at once."""
        check_size(self.kind, features.shape[1], truth.shape[1])
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # another number of threads would be other bits, and more CPU
            return self._solved(features, truth, (fitting or Fitting()).seed)

    def _solved(self, features: Features, truth: Truth, seed: int) -> Self:
        left, values, right = truncated_svd(features, self.rank, seed)
        projected = truth.T.astype(np.float64) @ left  # (labels, rank)
        weights = right.T.astype(np.float32) @ (projected / values).T.astype(np.float32)
        bias = np.zeros(truth.shape[1], np.float32)
        every = np.ones(len(weights), np.bool_)
        self.weights = LabelWeights.of(full_rows(weights, every), bias)
        return self


def truncated_svd(
    features: Features, rank: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """U, S, Vᵀ of the largest singular values by randomized range finding; zeros are left out.

    Halko, Martinsson & Tropp (2011), algorithm 4.4. Bases are made orthonormal through their Gram
    matrix, which takes a fifth of the time of a QR; a second pass mends what rounding leaves.
    """
    n_vectors = min(rank + OVERSAMPLING, *features.shape)
    columns = features.T.tocsr()
    pick = np.random.default_rng(seed)
    basis = pick.normal(size=(features.shape[1], n_vectors)).astype(np.float32)
    for _ in range(POWER_STEPS):
        basis = columns @ orthonormal(features @ basis)
    basis = orthonormal(features @ basis)
    small = np.asarray(columns @ basis, np.float64)
    squares, vectors = np.linalg.eigh(small.T @ small)
    order = np.argsort(-squares)[:rank]
    order = order[squares[order] > squares.max(initial=0.0) * SMALLEST**2]
    values = np.sqrt(squares[order])
    return basis @ vectors[:, order], values, (small @ (vectors[:, order] / values)).T


def orthonormal(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """An orthonormal basis of the columns, by two passes over their Gram matrix."""
    for _ in range(2):
        wide = matrix.astype(np.float64)
        squares, vectors = np.linalg.eigh(wide.T @ wide)
        kept = squares > squares.max(initial=0.0) * SMALLEST**2
        matrix = (wide @ (vectors[:, kept] / np.sqrt(squares[kept]))).astype(np.float32)
    return matrix
