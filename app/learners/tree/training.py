"""Trains a label tree: at each node one-vs-rest over its children, on the documents below it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Truth
from app.engine import Task, TaskArrays
from app.errors import InvalidRequestError
from app.kernels import kernels, warm
from app.kernels.tree.types import CHILD, LabelTree, packed
from app.learners.base import Fitting
from app.learners.linear.block_training import solved_blocks
from app.learners.linear.label_training import solved_labels
from app.learners.linear.options import LinearOptions
from app.learners.linear.problem import LinearProblem, constant_scores, cut_for
from app.learners.linear.shared_problem import (
    feature_arrays,
    features_of,
    options_of,
    options_settings,
    truth_arrays,
    truth_of,
)
from app.learners.tree.label_clusters import Branch
from app.learners.tree.node_tasks import branch_arrays, branches_of, n_blocks, node_tasks, task_size
from app.state import State


@dataclass(frozen=True, slots=True)
class NodeTraining:
    """What all nodes of a tree share, and the work on some of them, which is one task."""

    kind: ClassVar[str] = "tree-nodes"
    features: Features
    truth: csc_array
    options: LinearOptions
    cut: float
    uses_blocks: bool
    seed: int
    branches: list[Branch]

    @classmethod
    def of(
        cls,
        data: tuple[Features, Truth],
        options: LinearOptions,
        branches: list[Branch],
        *,
        prune: float,
        uses_blocks: bool,
        seed: int,
    ) -> "NodeTraining":
        """The training of every node on the same documents."""
        cut = cut_for(data[0], prune)
        return cls(data[0], csc_array(data[1]), options, cut, uses_blocks, seed, branches)

    def tree(self, fitting: Fitting) -> LabelTree:
        """All nodes' weights, put in order by feature."""
        _check_sizes(self.branches)
        if not self.uses_blocks:  # LIBLINEAR's generator is shared by threads
            fitting = replace(fitting, jobs=1, engine=None)
        return _joined(self.branches, self._chunks(fitting), self.features.shape[1])

    def _chunks(self, fitting: Fitting) -> Iterator["NodeChunk"]:
        """Every node's weights; tasks with blocks of one node come one after the other."""
        counts = np.diff(self.truth.indptr)
        tasks = node_tasks(self.branches, counts, splits=self.uses_blocks)
        pieces: list[NodeChunk] = []
        for (first, end, _, _), arrays in zip(tasks, fitting.map(self, tasks), strict=True):
            if pieces and pieces[0].node != first:
                yield _whole(pieces)
                pieces = []
            chunks = self._unpacked(range(first, end), arrays)
            if end - first == 1:
                pieces += chunks
            else:
                yield from chunks
            fitting.progress("train nodes", end, len(self.branches))
        if pieces:
            yield _whole(pieces)

    def run(self, task: Task) -> TaskArrays:
        """The biases, features and entries of some nodes, and how many entries each has."""
        first, end, *blocks = task
        chunks = [self.chunk(node, range(*blocks)) for node in range(first, end)]
        return (
            np.concatenate([chunk.bias for chunk in chunks]),
            np.concatenate([chunk.features for chunk in chunks]),
            np.concatenate([chunk.entries for chunk in chunks]),
            np.array([len(chunk.features) for chunk in chunks]),
        )

    def weights(self, tasks: Sequence[Task]) -> list[float]:
        """Documents of the nodes, once for every block of children."""
        counts = np.diff(self.truth.indptr)
        sizes = [task_size(branch, counts) for branch in self.branches]
        of_nodes = np.concatenate(([0], np.cumsum(sizes)))
        return [
            float(of_nodes[end] - of_nodes[first])
            * ((last - block) / n_blocks(self.branches[first]) if last else 1.0)
            for first, end, block, last in tasks
        ]

    def _unpacked(self, nodes: range, arrays: TaskArrays) -> "list[NodeChunk]":
        bias, features, entries, counts = arrays
        children = np.cumsum([len(self.branches[node].below) for node in nodes])[:-1]
        ends = np.cumsum(counts)[:-1]
        split = (np.split(bias, children), np.split(features, ends), np.split(entries, ends))
        return [NodeChunk(*chunk) for chunk in zip(nodes, *split, strict=True)]

    def chunk(self, node: int, blocks: range) -> "NodeChunk":
        """One node's weights; of some blocks of its children, where any are named."""
        documents, marks = self._below(self.branches[node])
        problem = LinearProblem.of(self.features[documents], marks, self.options, cut=self.cut)
        solve = solved_blocks if self.uses_blocks else solved_labels
        counts = np.diff(problem.truth.indptr)
        bias = constant_scores(counts > 0, len(documents), self.options)
        if blocks:
            solve = partial(solved_blocks, blocks=blocks)
            bias[problem.learnable()] = np.nan  # other tasks' children
        pieces = []
        for solved in solve(problem, Fitting(seed=self.seed)):
            bias[solved.labels] = solved.bias
            pieces.append(solved.weights)
        return NodeChunk.of(node, bias, pieces)

    def shared(self) -> State:
        """The documents, the options and the nodes."""
        settings = {
            "options": options_settings(self.options),
            "n_features": self.features.shape[1],
            "cut": float(self.cut),
            "seed": self.seed,
        }
        arrays = feature_arrays(self.features) | truth_arrays(self.truth)
        return State(self.kind, settings, arrays | branch_arrays(self.branches))

    @classmethod
    def from_shared(cls, state: State) -> "NodeTraining":
        """An equal training."""
        warm(names=("solver.block_descent",))
        settings, arrays = state.settings, state.arrays
        features = features_of(arrays, settings["n_features"])
        options, cut, seed = options_of(settings["options"]), settings["cut"], settings["seed"]
        return cls(features, truth_of(arrays), options, cut, True, seed, branches_of(arrays))

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

    node: int
    bias: NDArray[np.float32]
    features: NDArray[np.int32]
    entries: NDArray[np.uint32]

    @classmethod
    def of(cls, node: int, bias: NDArray[np.float32], pieces: list[Any]) -> "NodeChunk":
        """One node's (features, children, values) triples, concatenated."""
        nothing = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float32))
        features, children, values = (
            np.concatenate(arrays) for arrays in zip(nothing, *pieces, strict=True)
        )
        return cls(node, bias, features, packed(children, values))


def _whole(pieces: list[NodeChunk]) -> NodeChunk:
    """One node again from what was made of it, block after block."""
    if len(pieces) == 1:
        return pieces[0]
    bias = pieces[0].bias.copy()
    for piece in pieces[1:]:
        bias = np.where(np.isnan(bias), piece.bias, bias)
    features = np.concatenate([piece.features for piece in pieces])
    entries = np.concatenate([piece.entries for piece in pieces])
    return NodeChunk(pieces[0].node, bias, features, entries)


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
