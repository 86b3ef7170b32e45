"""Scores of CSR rows: the compiled products equal scipy's in every layout of the weights."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random_array

from app.kernels.array_table import read_only
from app.kernels.linear import csr_scores, csr_scores_plain
from app.kernels.linear.quantized_weights import quantized

LAYOUTS = ["dense_scores", "uint16", "int32", "quantized_scores"]


def csr(matrix: Any, dtype: str = "int32") -> tuple[Any, ...]:
    arrays = (matrix.indptr.astype(np.int64), matrix.indices.astype(dtype), matrix.data)
    return tuple(map(read_only, arrays))


def weights_of(layout: str, random: np.random.Generator, shape: tuple[int, int]) -> tuple[str, Any]:
    matrix = random_array(shape, density=0.4, rng=random, format="csr", dtype=np.float32)
    matrix.sort_indices()
    matrix.data += np.float32(0.5)
    if layout == "dense_scores":
        return layout, read_only(matrix.toarray())
    if layout == "quantized_scores":
        packed = quantized(matrix.indptr, matrix.indices, matrix.data)
        assert packed is not None
        return layout, tuple(map(read_only, packed._replace(starts=packed.starts.astype(np.int64))))
    return "sparse_scores", csr(matrix, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_equal_the_plain_ones(layout: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32), st.integers(0, 5), st.integers(2, 12), st.integers(1, 40))
    def holds(seed: int, n_rows: int, n_features: int, n_labels: int) -> None:
        random = np.random.default_rng(seed)
        rows = random_array((n_rows, n_features), density=0.5, rng=random, format="csr")
        rows = csr(rows.astype(np.float32))
        name, weights = weights_of(layout, random, (n_features, max(n_labels, 3)))
        bias = read_only(random.normal(size=max(n_labels, 3)).astype(np.float32))
        found, expected = np.full((2, n_rows, len(bias)), np.nan, np.float32)
        getattr(csr_scores, name)(rows, weights, bias, found)
        getattr(csr_scores_plain, name)(rows, weights, bias, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

    holds()


@pytest.mark.parametrize("module", [csr_scores, csr_scores_plain])
def test_a_part_of_the_rows_may_begin_in_the_middle_of_the_arrays(module: Any) -> None:
    rows = (np.array([1, 2, 3]), np.array([0, 1, 0], np.int32), np.array([9, 2, 3], np.float32))
    weights = read_only(np.array([[1, 0], [0, 10]], np.float32))
    scores = np.empty((2, 2), np.float32)
    bias = read_only(np.array([0.5, 0], np.float32))
    module.dense_scores(tuple(map(read_only, rows)), weights, bias, scores)
    assert scores.tolist() == [[0.5, 20], [3.5, 0]]
