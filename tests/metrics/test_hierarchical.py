"""Hierarchical precision, recall and F1, beside sets that are extended one by one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from app.labels.taxonomy import depths_of
from app.metrics.counting.cells import Averaging
from app.metrics.counting.hierarchical_counts import OUTSIDE, HierarchicalCounts
from app.metrics.counting.pairs import Pairs


@st.composite
def judged_forests(draw: Any) -> tuple[Any, Any, Any, Any]:
    """(parents, nodes of the columns, decisions, truth); the last columns are zero-shot."""
    n = draw(st.integers(1, 15))
    parents = np.array([draw(st.integers(-1, node - 1)) for node in range(n)], np.int32)
    order = np.array(draw(st.permutations(range(n))))
    shuffled = np.empty(n, np.int32)
    shuffled[order] = np.where(parents < 0, -1, order[parents])
    zero_shot = draw(st.lists(st.sampled_from([OUTSIDE, *range(n)]), max_size=2))
    nodes = np.array([*range(n), *zero_shot], np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.1, 0.4, 1.0]))
    marks, truth = (rng.random((5, width)) < share for width in (n, len(nodes)))
    return shuffled, nodes, marks, truth


def counted(parents: Any, nodes: Any, marks: Any, truth: Any) -> HierarchicalCounts:
    """In two chunks: counts are added up."""
    counts = HierarchicalCounts(parents, depths_of(parents))
    for rows in (slice(0, 2), slice(2, None)):
        pairs = Pairs.of(marks[rows], csr_array(truth[rows]))
        counts.add(pairs, nodes)
    return counts


def extended(columns: Any, nodes: Any, parents: Any) -> set[Any]:
    found: set[Any] = set()
    for column in columns.tolist():
        node = int(nodes[column])
        found |= {("column", column)} if node == OUTSIDE else set()
        while node >= 0:
            found.add(node)
            node = int(parents[node])
    return found


@settings(deadline=None)
@given(judged_forests())
def test_counts_are_those_of_sets_extended_one_by_one(case: Any) -> None:
    parents, nodes, marks, truth = case
    tp = fp = fn = 0
    for decided, true in zip(marks, truth, strict=True):
        assigned = extended(np.flatnonzero(decided), nodes, parents)
        relevant = extended(np.flatnonzero(true), nodes, parents)
        tp += len(assigned & relevant)
        fp += len(assigned - relevant)
        fn += len(relevant - assigned)
    counts = counted(parents, nodes, marks, truth)
    assert (counts.tp, counts.fp, counts.fn) == (tp, fp, fn)


def test_a_sibling_is_half_right() -> None:
    """Root 0 has the children 1 and 2: 1 is assigned, 2 is true, and 0 is right for both."""
    parents, nodes = np.array([-1, 0, 0], np.int32), np.arange(3)
    marks, truth = np.array([[0, 1, 0]], bool), np.array([[0, 0, 1]], bool)
    counts = HierarchicalCounts(parents, depths_of(parents))
    counts.add(Pairs.of(marks, csr_array(truth)), nodes)
    assert counts.figures(Averaging()) == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_nothing_counted_is_read_as_the_convention_for_0_by_0_says() -> None:
    counts = HierarchicalCounts(np.array([-1], np.int32), np.array([0], np.int32))
    values = [set(counts.figures(Averaging(zero)).values()) for zero in ("0", "1", "skip")]
    assert values == [{0.0}, {1.0}, {None}]


def test_a_chain_of_a_hundred_thousand_labels_is_counted() -> None:
    n = 100_000
    parents = np.arange(-1, n - 1, dtype=np.int32)
    marks, truth = np.zeros((2, n), bool), np.zeros((2, n), bool)
    marks[:, n // 2] = truth[:, n - 1] = True
    counts = HierarchicalCounts(parents, depths_of(parents))
    counts.add(Pairs.of(marks, csr_array(truth)), np.arange(n))
    assert (counts.tp, counts.fp, counts.fn) == (2 * (n // 2 + 1), 0, 2 * (n // 2 - 1))
    assert counts.figures(Averaging())["recall"] == pytest.approx(0.5, abs=1e-4)
