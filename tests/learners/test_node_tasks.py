"""Tasks of a tree's nodes: every block of every node once, in order, whoever runs them."""

import numpy as np
import pytest

from app.learners.base import Fitting
from app.learners.linear.options import parse_options
from app.learners.tree import node_tasks
from app.learners.tree.label_clusters import Branch
from app.learners.tree.node_tasks import branch_arrays, branches_of
from app.learners.tree.training import NodeTraining
from app.learners.tree.tree import Tree
from tests.learners.made_up import made_up


def branch(n_children: int, first: int) -> Branch:
    labels = np.arange(first, first + n_children)
    return Branch([labels[[i]] for i in range(n_children)], [None] * n_children)


def test_small_nodes_go_together_and_large_ones_are_cut_into_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_tasks, "LEAST", 20)
    branches = [branch(40, 0), branch(5, 40), branch(16, 45), branch(3, 61)]
    cut = node_tasks.node_tasks(branches, np.full(64, 1), splits=True)
    assert cut == [(0, 1, 0, 1), (0, 1, 1, 2), (0, 1, 2, 3), (1, 3, 0, 0), (3, 4, 0, 0)]
    whole = node_tasks.node_tasks(branches, np.full(64, 1), splits=False)
    assert whole == [(0, 1, 0, 0), (1, 3, 0, 0), (3, 4, 0, 0)]


def test_tasks_weigh_what_their_nodes_do_however_they_are_cut() -> None:
    features, truth = made_up(64, 64)
    branches = [branch(40, 0), branch(5, 40), branch(16, 45), branch(3, 61)]
    options = parse_options("-s 1")
    how = {"prune": 0.1, "uses_blocks": True, "seed": 0}
    training = NodeTraining.of((features, truth), options, branches, **how)
    cut = training.weights([(0, 1, 0, 1), (0, 1, 1, 2), (0, 1, 2, 3), (1, 3, 0, 0), (3, 4, 0, 0)])
    pairs = np.bincount(truth.indices, minlength=64)
    assert cut[:3] == [pairs[:40].sum()] * 3
    assert cut[3:] == [pairs[40:61].sum(), pairs[61:].sum()]
    assert training.weights([(0, 4, 0, 0)]) == [sum(cut)]


def test_nodes_come_back_from_their_arrays() -> None:
    branches = [Branch([np.array([4, 1]), np.array([2])], [1, None]), branch(2, 7)]
    again = branches_of(branch_arrays(branches))
    assert [[group.tolist() for group in b.below] for b in again] == [[[4, 1], [2]], [[7], [8]]]
    assert [b.nodes for b in again] == [[1, None], [None, None]]


def test_a_tree_is_the_same_however_its_nodes_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    features, truth = made_up(200, 60)

    def arrays(least: int) -> list[bytes]:
        monkeypatch.setattr(node_tasks, "LEAST", least)
        tree = Tree(children=40, leaf=2, depth=2, n_trees=1).fit(features, truth, Fitting(jobs=2))
        return [array.tobytes() for array in tree.state().parts["tree0"].arrays.values()]

    assert arrays(10) == arrays(10**9)
