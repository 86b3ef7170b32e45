"""Heaps of the best scores: whatever the order of the blocks, the k best are left."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels.linear import top_k_heap, top_k_heap_plain


def pushed(module: Any, scores: np.ndarray, k: int, width: int) -> tuple[Any, Any]:
    """The heaps after the labels have come in blocks of `width`."""
    n_documents, n_labels = scores.shape
    best = np.full((n_documents, k), -np.inf, np.float32)
    labels = np.zeros((n_documents, k), np.int32)
    documents = np.arange(n_documents)[::-1].copy()
    for first in range(0, n_labels, width):
        block = np.ascontiguousarray(scores[::-1, first : first + width])
        columns = np.arange(first, first + block.shape[1], dtype=np.int32)
        module.push_scores(block, documents, columns, best, labels)
    return best, labels


@pytest.mark.parametrize("module", [top_k_heap, top_k_heap_plain])
def test_the_k_best_scores_are_left_with_their_labels(module: Any) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9), st.integers(1, 12))
    def holds(seed: int, n_labels: int, k: int, width: int) -> None:
        scores = np.random.default_rng(seed).permutation(3 * n_labels).reshape(3, n_labels)
        best, labels = pushed(module, scores.astype(np.float32), k, width)
        assert (best[:, 0] == best.min(axis=1)).all()
        for row in range(3):
            expected = np.sort(scores[row])[::-1][:k].tolist()
            kept = best[row] > -np.inf
            assert sorted(best[row][kept].tolist(), reverse=True) == expected
            assert scores[row][labels[row][kept]].tolist() == best[row][kept].tolist()

    holds()


@pytest.mark.parametrize("module", [top_k_heap, top_k_heap_plain])
def test_among_equal_scores_what_came_first_stays(module: Any) -> None:
    best, labels = pushed(module, np.ones((1, 5), np.float32), 2, 2)
    assert (best.tolist(), sorted(labels[0].tolist())) == ([[1.0, 1.0]], [0, 1])
