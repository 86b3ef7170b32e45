"""Word vectors from the training documents themselves: words that stand together lie together."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features

WINDOW = 5
SMOOTHING = 0.75  # of the neighbours' frequencies, as in word2vec
PASSES = 2  # of the power iteration


def cooccurrence_vectors(
    features: Features, size: int, dimensions: int, *, seed: int
) -> NDArray[np.float32]:
    """A vector for each word number below `size`; rows 0 and 1 are zeros.

    Singular vectors of the positive pointwise mutual information of words within five words of
    each other (Levy and Goldberg 2014; Levy et al. 2015), scaled to unit mean length. Labels play
    no part. With fewer words than dimensions the rest are zeros.
    """
    weights = _mutual_information(_counts(features, size))
    rank = min(dimensions, size)
    left, values = _largest_singular(weights, rank, np.random.default_rng([seed, 11]))
    vectors = np.zeros((size, dimensions), np.float32)
    vectors[:, :rank] = left * np.sqrt(values)
    vectors[:2] = 0
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-6)


def _counts(features: Features, size: int) -> Any:
    """How often two words stand within WINDOW words of each other (size, size)."""
    numbers = np.where(features.data < size, features.data, 1).astype(np.int32)
    document = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    total = csr_array((size, size), dtype=np.float32)
    for distance in range(1, WINDOW + 1):
        together = document[:-distance] == document[distance:]
        left, right = numbers[:-distance][together], numbers[distance:][together]
        share = np.full(len(left), 1 / distance, np.float32)  # nearer words count more
        total = total + csr_array((share, (left, right)), shape=(size, size))
    return csr_array(total + total.T)


def _mutual_information(counts: Any) -> Any:
    """max(0, log(p(a, b) / (p(a) p(b)))) where two words ever met."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    sums = np.asarray(counts.sum(axis=1), np.float64).ravel()
    smoothed = sums**SMOOTHING
    expected = sums[rows] * smoothed[counts.indices] / max(smoothed.sum(), 1.0)
    values = np.log(np.maximum(counts.data / np.maximum(expected, 1e-12), 1.0))
    return csr_array((values.astype(np.float32), counts.indices, counts.indptr), counts.shape)


def _largest_singular(
    matrix: Any, rank: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Left singular vectors and values, the largest first (Halko et al. 2011)."""
    basis = rng.standard_normal((matrix.shape[1], rank), dtype=np.float32)
    for _ in range(PASSES + 1):
        basis = torch.linalg.qr(torch.from_numpy(matrix @ basis)).Q.numpy()
    # torch's products run on the threads of the training's settings: the same bits everywhere
    left = torch.from_numpy(basis)
    small = left.T @ torch.from_numpy(matrix @ basis)  # the matrix is symmetric
    values, vectors = torch.linalg.eigh((small + small.T) / 2)
    order = torch.argsort(-values.abs(), stable=True)
    return (left @ vectors[:, order]).numpy(), values[order].abs().numpy()
