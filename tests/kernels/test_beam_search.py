"""Beam search down label trees: the compiled search reaches and scores what the plain one does."""

from typing import Any

import numpy as np
import pytest

from app.kernels.array_table import read_only
from app.kernels.tree import beam_search, beam_search_plain
from app.kernels.tree.types import LINKS, LabelTree, packed

MODULES = [beam_search, beam_search_plain]
N_FEATURES = 12


def random_tree(random: np.random.Generator, n_nodes: int) -> tuple[LabelTree, int]:
    """A tree of so many nodes and its number of labels; every node has one to five children."""
    targets: list[list[int]] = []
    n_labels, next_node = 0, 1
    for node in range(n_nodes):
        children: list[int] = []
        for _ in range(random.integers(1, 6)):
            if next_node < n_nodes and (random.random() < 0.6 or next_node == node + 1):
                children.append(-next_node - 1)
                next_node += 1
            else:
                children.append(n_labels)
                n_labels += 1
        targets.append(children)
    rows = [
        [
            (node, random.choice(len(below), random.integers(1, len(below) + 1), replace=False))
            for node, below in enumerate(targets)
            if random.random() < 0.5
        ]
        for _ in range(N_FEATURES)
    ]
    flat = [row for feature in rows for row in feature]
    children = np.concatenate([np.sort(entries) for _, entries in flat])
    tree = (
        np.cumsum([0, *map(len, targets)]),
        np.array([target for below in targets for target in below], np.int32),
        random.normal(size=sum(map(len, targets))).astype(np.float32),
        np.cumsum([0, *map(len, rows)]),
        np.array([node for node, _ in flat], np.int32),
        np.cumsum([0, *(len(entries) for _, entries in flat)]),
        packed(children, random.normal(size=len(children)).astype(np.float32)),
    )
    return LabelTree(*map(read_only, tree)), n_labels


def random_rows(random: np.random.Generator, n_rows: int) -> tuple[Any, ...]:
    columns = [np.flatnonzero(random.random(N_FEATURES) < 0.4) for _ in range(n_rows)]
    starts = np.cumsum([0, *map(len, columns)])
    values = random.normal(size=starts[-1]).astype(np.float32)
    return tuple(map(read_only, (starts, np.concatenate(columns).astype(np.int32), values)))


def searched(module: Any, rows: Any, tree: LabelTree, beam: int, link: str, shape: Any) -> Any:
    scores = np.full(shape, -np.inf, np.float32)
    for share in (np.float32(-0.5), np.float32(-1.5)):  # as if two trees voted
        module.search(rows, tree, beam, LINKS[link], share, scores)
    return scores


@pytest.mark.parametrize("link", sorted(LINKS))
@pytest.mark.parametrize("beam", [1, 2, 3, 50])
@pytest.mark.parametrize("n_nodes", [1, 7, 40])
def test_labels_reached_and_their_scores_are_those_of_the_plain_search(
    link: str, beam: int, n_nodes: int
) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        tree, n_labels = random_tree(random, n_nodes)
        rows = random_rows(random, 8)
        found, expected = (
            searched(module, rows, tree, beam, link, (8, n_labels)) for module in MODULES
        )
        assert np.isfinite(expected).any()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("module", MODULES)
def test_a_beam_expands_no_more_nodes_than_its_width_and_the_first_of_equals(module: Any) -> None:
    """The root has four equal nodes with one label each."""
    tree = LabelTree(
        np.array([0, 4, 5, 6, 7, 8]),
        np.array([-2, -3, -4, -5, 0, 1, 2, 3], np.int32),
        np.zeros(8, np.float32),
        np.array([0, 0]),
        np.zeros(0, np.int32),
        np.array([0]),
        np.zeros(0, np.uint32),
    )
    none = (np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0, np.float32))
    for beam in (1, 2, 3, 4):
        scores = np.full((1, 4), -np.inf, np.float32)
        rows, link = tuple(map(read_only, none)), LINKS["squared-hinge"]
        module.search(rows, LabelTree(*map(read_only, tree)), beam, link, np.float32(0), scores)
        assert np.flatnonzero(np.isfinite(scores[0])).tolist() == list(range(beam))
