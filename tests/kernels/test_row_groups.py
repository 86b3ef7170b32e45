"""Sums, products and a sort of CSR rows: what is compiled equals its plain twin."""

import numpy as np
import pytest

from app.kernels.array_table import read_only
from app.kernels.tree import row_groups_plain

row_groups = pytest.importorskip("app.kernels.tree.row_groups")

RANDOM = np.random.default_rng(0)
STARTS = np.array([0, 3, 3, 50, 57])
COLUMNS = RANDOM.integers(0, 20, 57).astype(np.int32)
VALUES = RANDOM.normal(size=57).astype(np.float32)
ROWS = tuple(map(read_only, (STARTS, COLUMNS, VALUES)))


@pytest.mark.parametrize("width", [16, 48])
def test_products_of_rows_and_lines_equal_the_plain_ones(width: int) -> None:
    lines = read_only(RANDOM.normal(size=(20, width)).astype(np.float32))
    found, expected = np.empty((2, 4, width), np.float32)
    row_groups.multiply_rows(ROWS, lines, found)
    row_groups_plain.multiply_rows(ROWS, lines, expected)
    assert found.any()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_sums_by_group_equal_the_plain_ones() -> None:
    found, expected = np.zeros((2, 20, 2), np.float32)
    for module, sums in ((row_groups, found), (row_groups_plain, expected)):
        module.sum_by_group(ROWS, np.array([0, 1, 1, 0]), sums)
    assert found.any()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("module", [row_groups, row_groups_plain])
def test_places_come_by_key_then_in_their_old_order(module: object) -> None:
    keys = np.array([2, 0, 2, 5, 0], np.int32)
    assert module.stable_order(keys, 6).tolist() == [1, 4, 0, 2, 3]  # type: ignore[attr-defined]
