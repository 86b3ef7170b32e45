"""Label clusters: labels whose documents are alike, found by balanced k-means, level by level."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Truth
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.solver.types import LANES

PASSES = 10


@dataclass(frozen=True, slots=True)
class Branch:
    """One node: the labels below each child, and the child's node number, or None for a label."""

    below: list[NDArray[Any]]
    nodes: list[int | None]


def grown(
    vectors: csr_array, labels: NDArray[Any], *, limits: tuple[int, int, int], seed: int
) -> list[Branch]:
    """The tree over some labels, root first; limits are children, labels of a leaf, and depth.

    A node with more labels than a leaf may have is split while it is not too deep, into no more
    clusters than leaves are wanted; every other node has its labels as children.
    """
    most_children, leaf, depth = limits
    branches: list[Branch] = []
    waiting, n_nodes = deque([(labels, 1)]), 1
    while waiting:
        here, level = waiting.popleft()
        if len(here) <= leaf or level >= depth:
            branches.append(Branch([here[[i]] for i in range(len(here))], [None] * len(here)))
            continue
        wanted = min(most_children, -(-len(here) // leaf))
        clusters = split(vectors[here], wanted, seed + len(branches))
        below = [here[clusters == cluster] for cluster in range(clusters.max() + 1)]
        nodes: list[int | None] = []
        for group in below:
            nodes.append(n_nodes if len(group) > 1 else None)
            if len(group) > 1:
                waiting.append((group, level + 1))
                n_nodes += 1
        branches.append(Branch(below, nodes))
    return branches


def label_vectors(features: Features, truth: Truth) -> csr_array:
    """Each label's documents added up and scaled to length 1; empty for a label without any."""
    sums = csr_array(csr_array(truth.T).astype(np.float32) @ features)
    sums.sort_indices()
    return scaled(sums)


def scaled(rows: csr_array) -> csr_array:
    """The rows at length 1."""
    lengths = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
    factors = 1 / np.where(lengths > 0, lengths, 1)
    values = rows.data * np.repeat(factors, np.diff(rows.indptr))
    return csr_array((values.astype(np.float32), rows.indices, rows.indptr), shape=rows.shape)


def split(vectors: csr_array, n_clusters: int, seed: int) -> NDArray[np.int64]:
    """Each vector's cluster, numbered from 0; no cluster has more than its share, rounded up.

    Spherical k-means from random vectors. Equal shares keep the tree shallow: a document's beam
    passes few nodes, and a document trains few.
    """
    n_vectors = vectors.shape[0]
    is_used = np.bincount(vectors.indices, minlength=vectors.shape[1]) > 0
    places = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    starts = read_only(vectors.indptr.astype(np.int64))
    rows = (starts, read_only(places[vectors.indices]), read_only(vectors.data))
    n_clusters = min(n_clusters, n_vectors)
    clusters = np.full(n_vectors, -1)
    chosen = np.random.default_rng(seed).choice(n_vectors, n_clusters, replace=False)
    picked = vectors[chosen].tocoo()
    sums = np.zeros((np.count_nonzero(is_used), n_clusters), np.float32)
    sums[places[picked.coords[1]], picked.coords[0]] = picked.data
    for _ in range(PASSES):
        nearest = shared_out(_likeness(rows, sums), -(-n_vectors // n_clusters))
        if np.array_equal(nearest, clusters):
            break
        clusters = nearest
        sums = np.zeros_like(sums)
        kernels("tree.row_groups").sum_by_group(rows, clusters, sums)
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def shared_out(likeness: NDArray[np.float32], share: int) -> NDArray[np.int64]:
    """Each row's cluster: the likest that has room, where each has room for `share` rows.

    The likest rows of a cluster come first; ties go to the lower cluster and the lower row.

    >>> shared_out(np.array([[0.9, 0.1], [0.8, 0.7], [0.5, 0.4]], np.float32), 2).tolist()
    [0, 0, 1]
    """
    clusters = np.full(len(likeness), -1)
    room = np.full(likeness.shape[1], share)
    waiting = np.arange(len(likeness))
    while len(waiting):
        open_to = np.where(room > 0, likeness[waiting], -np.inf)
        wanted = open_to.argmax(axis=1)
        order = np.lexsort((-open_to.max(axis=1), wanted))
        wanted, waiting = wanted[order], waiting[order]
        turns = np.arange(len(order)) - np.searchsorted(wanted, wanted)
        comes_in = turns < room[wanted]
        clusters[waiting[comes_in]] = wanted[comes_in]
        room -= np.bincount(wanted[comes_in], minlength=len(room))
        waiting = np.sort(waiting[~comes_in])
    return clusters


def _likeness(rows: Any, sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of every vector and every cluster's sum."""
    n_used, n_clusters = sums.shape
    centroids = np.zeros((n_used, -(-n_clusters // LANES) * LANES), np.float32)
    lengths = np.sqrt((sums**2).sum(axis=0))
    centroids[:, :n_clusters] = sums / np.where(lengths > 0, lengths, 1)
    likeness = np.empty((len(rows[0]) - 1, centroids.shape[1]), np.float32)
    kernels("tree.row_groups").multiply_rows(rows, read_only(centroids), likeness)
    return likeness[:, :n_clusters]
