"""Cuts the training of a tree's nodes into tasks of like size, and puts nodes into arrays."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine import Task
from app.kernels.solver.types import LANES
from app.learners.tree.label_clusters import Branch

LEAST = 50_000
"""Documents of a task, once for every block of children: fewer are not worth being sent."""
MOST_TASKS = 2000
"""About so many a tree at most, for the largest ones."""


def node_tasks(branches: Sequence[Branch], counts: NDArray[Any], *, splits: bool) -> list[Task]:
    """Tasks (first node, end, first block of children, end), in the order of the nodes.

    `counts` are the documents of each label. Small nodes go together; where `splits`, a large one
    is cut into blocks of sixteen children. Blocks 0 to 0 are all of them. The tasks depend on the
    tree alone, never on who is there to run them.
    """
    sizes = [task_size(branch, counts) for branch in branches]
    share = max(LEAST, sum(sizes) // MOST_TASKS)
    tasks: list[Task] = []
    first, gathered = 0, 0
    for node, size in enumerate(sizes):
        blocks = n_blocks(branches[node])
        if splits and blocks > 1 and size > 2 * share:
            tasks += [(first, node, 0, 0)] if node > first else []
            tasks += [(node, node + 1, block, block + 1) for block in range(blocks)]
            first, gathered = node + 1, 0
            continue
        gathered += size
        if gathered >= share:
            tasks.append((first, node + 1, 0, 0))
            first, gathered = node + 1, 0
    return tasks + ([(first, len(sizes), 0, 0)] if first < len(sizes) else [])


def n_blocks(branch: Branch) -> int:
    """How many blocks of sixteen children a node has."""
    return -(-len(branch.below) // LANES)


def task_size(branch: Branch, counts: NDArray[Any]) -> int:
    """About how much work a node is: its documents, once for every block of children."""
    n_pairs = sum(int(counts[group].sum()) for group in branch.below)
    return n_pairs * n_blocks(branch)


def branch_arrays(branches: Sequence[Branch]) -> dict[str, NDArray[Any]]:
    """The nodes of a tree as arrays; a child that is a label has the node −1."""
    groups = [group for branch in branches for group in branch.below]
    nodes = [-1 if node is None else node for branch in branches for node in branch.nodes]
    return {
        "node_ends": np.cumsum([len(branch.below) for branch in branches]),
        "child_nodes": np.array(nodes, np.int64),
        "child_ends": np.cumsum([len(group) for group in groups]),
        "child_labels": np.concatenate(groups),
    }


def branches_of(arrays: dict[str, NDArray[Any]]) -> list[Branch]:
    """The nodes again."""
    return list(_branches(arrays))


def _branches(arrays: dict[str, NDArray[Any]]) -> Iterator[Branch]:
    groups = np.split(np.array(arrays["child_labels"]), arrays["child_ends"][:-1])
    nodes = [None if node < 0 else int(node) for node in arrays["child_nodes"]]
    first = 0
    for end in arrays["node_ends"].tolist():
        yield Branch(groups[first:end], nodes[first:end])
        first = end
