"""Trains a label tree: at each node one-vs-rest over its children, on the documents below it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.tree.types import CHILD, LabelTree, packed
from app.learners.base import Fitting
from app.learners.linear.block_training import solved_blocks
from app.learners.linear.label_training import solved_labels
from app.learners.linear.options import LinearOptions
from app.learners.linear.problem import LinearProblem, constant_scores, cut_for
from app.learners.ordered_map import ordered_map
from app.learners.tree.label_clusters import Branch


@dataclass(frozen=True, slots=True)
class NodeTraining:
    """What all nodes of a tree share."""

    features: Features
    truth: csc_array
    options: LinearOptions
    cut: float
    uses_blocks: bool
    seed: int

    @classmethod
    def of(
        cls,
        data: tuple[Features, Truth],
        options: LinearOptions,
        *,
        prune: float,
        uses_blocks: bool,
        seed: int,
    ) -> "NodeTraining":
        """The training of every node on the same documents."""
        cut = cut_for(data[0], prune)
        return cls(data[0], csc_array(data[1]), options, cut, uses_blocks, seed)

    def tree(self, branches: list[Branch], fitting: Fitting) -> LabelTree:
        """All nodes' weights, put in order by feature."""
        _check_sizes(branches)
        jobs = fitting.jobs if self.uses_blocks else 1  # LIBLINEAR's generator is shared by threads
        return _joined(branches, self._chunks(branches, jobs, fitting), self.features.shape[1])

    def _chunks(self, branches: list[Branch], jobs: int, fitting: Fitting) -> Iterator["NodeChunk"]:
        for done, chunk in enumerate(ordered_map(self.chunk, branches, jobs), start=1):
            fitting.progress("train nodes", done, len(branches))
            yield chunk

    def chunk(self, branch: Branch) -> "NodeChunk":
        """One node's weights."""
        documents, marks = self._below(branch)
        problem = LinearProblem.of(self.features[documents], marks, self.options, cut=self.cut)
        solve = solved_blocks if self.uses_blocks else solved_labels
        counts = np.diff(problem.truth.indptr)
        bias = constant_scores(counts > 0, len(documents), self.options)
        pieces = []
        for solved in solve(problem, Fitting(seed=self.seed)):
            bias[solved.labels] = solved.bias
            pieces.append(solved.weights)
        return NodeChunk.of(bias, pieces)

    def _below(self, branch: Branch) -> tuple[NDArray[Any], csr_array]:
        """The documents with a label below the node, and which children each belongs to."""
        labels = np.concatenate(branch.below)
        columns = self.truth[:, labels]
        children = np.repeat(np.arange(len(branch.below)), [len(group) for group in branch.below])
        of_pairs = np.repeat(children, np.diff(columns.indptr))
        documents, rows = np.unique(columns.indices, return_inverse=True)
        shape = (len(documents), len(branch.below))
        marks = csr_array((np.ones(len(rows), np.bool_), (rows, of_pairs)), shape=shape)
        return documents, marks


@dataclass(frozen=True, slots=True)
class NodeChunk:
    """One node's biases, and its weights: of which feature each is, and its entry."""

    bias: NDArray[np.float32]
    features: NDArray[np.int32]
    entries: NDArray[np.uint32]

    @classmethod
    def of(cls, bias: NDArray[np.float32], pieces: list[Any]) -> "NodeChunk":
        """One node's (features, children, values) triples, concatenated."""
        nothing = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float32))
        features, children, values = (
            np.concatenate(arrays) for arrays in zip(nothing, *pieces, strict=True)
        )
        return cls(bias, features, packed(children, values))


def _check_sizes(branches: list[Branch]) -> None:
    """A child's place has to fit into its entries."""
    if max(len(branch.below) for branch in branches) > CHILD + 1:
        problem = f"tree: a node would have more than {CHILD + 1:,} children"
        raise InvalidRequestError(f"{problem}; accepted: a smaller leaf, a larger depth")


def _joined(branches: list[Branch], chunks: Iterator[NodeChunk], n_features: int) -> LabelTree:
    every = list(chunks)
    targets = [
        int(group[0]) if node is None else -node - 1
        for branch in branches
        for group, node in zip(branch.below, branch.nodes, strict=True)
    ]
    features = np.concatenate([chunk.features for chunk in every])
    nodes = np.repeat(np.arange(len(every), dtype=np.int32), [len(c.features) for c in every])
    order = kernels("tree.row_groups").stable_order(features, n_features)
    features, nodes = features[order], nodes[order]
    is_first = (np.diff(features, prepend=np.int32(-1)) > 0) | (
        np.diff(nodes, prepend=np.int32(-1)) != 0
    )
    rows = np.flatnonzero(is_first)
    return LabelTree(
        _starts([len(branch.below) for branch in branches]),
        np.array(targets, np.int32),
        np.concatenate([chunk.bias for chunk in every]),
        _starts(np.bincount(features[rows], minlength=n_features)),
        nodes[rows],
        np.append(rows, len(order)),
        np.concatenate([chunk.entries for chunk in every])[order],
    )


def _starts(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
