"""Labels in clusters of equal size: labels whose documents use the same words go together."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from app.arrays import Features, Truth

ROUNDS = 10  # of moving labels between two halves; it settles in a few


def cluster_count(n_labels: int, cluster_size: int) -> int:
    """How many clusters of at most `cluster_size` labels halving gives: a power of two.

    >>> [cluster_count(n, 8) for n in (1, 8, 9, 90)]
    [1, 1, 2, 16]
    """
    count = 1
    while -(-n_labels // count) > cluster_size:
        count *= 2
    return count


def label_clusters(
    features: Features, truth: Truth, cluster_size: int, *, seed: int
) -> NDArray[np.int64]:
    """The cluster of every label: labels halved by balanced 2-means until small enough.

    A label is the mean of its documents' words, rare words counting more (You et al. 2019).
    """
    vectors = _label_vectors(features, truth)
    rng = np.random.default_rng([seed, 13])
    groups = [np.arange(truth.shape[1])]
    for _ in range(cluster_count(truth.shape[1], cluster_size).bit_length() - 1):
        groups = [half for group in groups for half in _halves(vectors, group, rng)]
    clusters = np.zeros(truth.shape[1], np.int64)
    for number, group in enumerate(groups):
        clusters[group] = number
    return clusters


def _label_vectors(features: Features, truth: Truth) -> csr_array:
    documents = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    ones = np.ones(features.nnz, np.float32)
    width = int(features.data.max(initial=0)) + 1
    counts = csr_array((ones, (documents, features.data)), shape=(features.shape[0], width))
    frequency = np.bincount(counts.indices, minlength=width)
    rarity = np.log((1 + counts.shape[0]) / (1 + frequency)).astype(np.float32)
    rows = _unit(csr_array(counts @ diags_array(rarity)))
    return _unit(csr_array(truth.T.astype(np.float32) @ rows))


def _unit(rows: csr_array) -> csr_array:
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_array(diags_array((1 / np.maximum(lengths, 1e-9)).astype(np.float32)) @ rows)


def _halves(
    vectors: csr_array, group: NDArray[np.int64], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """A group in two halves of equal size (or one more in the first)."""
    if len(group) < 2:
        return [group, group[:0]]
    inside = vectors[group]
    half = (len(group) + 1) // 2
    centres = inside[rng.permutation(len(group))[:2]].toarray()
    order = np.arange(len(group))
    for _ in range(ROUNDS):
        leaning = inside @ (centres[0] - centres[1])
        moved = np.argsort(-leaning, kind="stable")
        if np.array_equal(np.sort(moved[:half]), np.sort(order[:half])):
            break
        order = moved
        centres = np.stack([inside[order[:half]].mean(axis=0), inside[order[half:]].mean(axis=0)])
    return [np.sort(group[order[:half]]), np.sort(group[order[half:]])]
