"""Dual coordinate descent for blocks of labels: each step is that of the plain version."""

from typing import Any

import numpy as np
import pytest

from app.kernels.solver import block_descent, block_descent_plain
from app.kernels.solver.types import (
    HINGE,
    LANES,
    LOGISTIC,
    SQUARED_HINGE,
    LabelBlock,
    Solution,
    SolverRows,
    aligned_lanes,
    block_of,
    unsolved,
)

MODULES = [block_descent, block_descent_plain]
N_DOCUMENTS, N_FEATURES = 30, 12
EVERYONE = np.arange(N_DOCUMENTS, dtype=np.int32)


def problem(seed: int, n_labels: int, loss: int) -> tuple[SolverRows, LabelBlock]:
    random = np.random.default_rng(seed)
    dense = np.where(random.random((N_DOCUMENTS, N_FEATURES)) < 0.4, random.random(), 0)
    dense[3] = 0  # a document without features
    documents, columns = np.nonzero(dense)
    values = dense[documents, columns].astype(np.float32)
    starts = np.searchsorted(documents, np.arange(N_DOCUMENTS + 1)).astype(np.int64)
    singletons = np.where(random.random(N_DOCUMENTS) < 0.3, 0.25, 0).astype(np.float32)
    norms = (np.add.reduceat(np.append(values, 0) ** 2, starts[:-1]) * (np.diff(starts) > 0)) + 1
    norms = (norms + singletons).astype(np.float32)
    rows = SolverRows(starts, columns.astype(np.int32), values, singletons, norms, np.float32(1))
    marks = random.integers(0, 2**n_labels, N_DOCUMENTS).astype(np.uint16)
    positive, negative = random.uniform(0.5, 3, (2, n_labels))
    return rows, block_of(marks, positive, negative, loss)


def descended(module: Any, rows: SolverRows, block: LabelBlock, tolerance: float) -> Any:
    solution = unsolved(N_FEATURES, N_DOCUMENTS, block.loss)
    steps = module.descend(rows, block, solution, EVERYONE, np.float32(tolerance), 7)
    return steps, solution


def scores(rows: SolverRows, solution: Solution) -> Any:
    written = aligned_lanes(N_DOCUMENTS)
    block_descent_plain.score(rows, solution, EVERYONE, written)
    return written.reshape(-1, LANES)


def assert_close(one: Solution, other: Solution, block: LabelBlock) -> None:
    for name, mine, its in zip(one._fields, one, other, strict=True):
        lanes = (array.reshape(-1, LANES)[:, : block.n_labels] for array in (mine, its))
        np.testing.assert_allclose(*lanes, rtol=2e-3, atol=2e-3, err_msg=name)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
@pytest.mark.parametrize("n_labels", [1, 5, 16])
def test_a_descent_ends_where_the_plain_one_ends(loss: int, n_labels: int) -> None:
    for seed in range(3):
        rows, block = problem(seed, n_labels, loss)
        steps, solution = descended(block_descent, rows, block, 0.01)
        plain_steps, plain = descended(block_descent_plain, rows, block, 0.01)
        assert steps == pytest.approx(plain_steps, rel=0.2)  # rounding decides the last few
        found, expected = (scores(rows, own)[:, :n_labels] for own in (solution, plain))
        np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
def test_one_pass_of_all_documents_moves_every_lane_alike(loss: int) -> None:
    """At a tolerance that one pass meets, rounding has had no time to add up."""
    rows, block = problem(9, 16, loss)
    (passes, visits), solution = descended(block_descent, rows, block, 1e9)
    plain_steps, plain = descended(block_descent_plain, rows, block, 1e9)
    assert (passes, visits) == plain_steps == (1, N_DOCUMENTS)
    for name, mine, its in zip(solution._fields, solution, plain, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
def test_documents_that_are_forgotten_leave_what_the_plain_version_leaves(loss: int) -> None:
    rows, block = problem(4, 11, loss)
    _, solution = descended(block_descent, rows, block, 0.1)
    plain = solution.copy()
    gone = EVERYONE[::3].copy()
    for module, own in zip(MODULES, (solution, plain), strict=True):
        module.forget(rows, block, own, gone)
    assert_close(solution, plain, block)
    unused = unsolved(1, 1, loss).duals[0]
    assert (solution.duals.reshape(-1, LANES)[gone] == unused).all()


def test_scores_are_those_of_the_plain_version_also_for_few_documents() -> None:
    rows, block = problem(5, 16, SQUARED_HINGE)
    _, solution = descended(block_descent, rows, block, 0.1)
    for documents in (EVERYONE, EVERYONE[:1], EVERYONE[[3, 7, 7]], EVERYONE[:0]):
        found, expected = aligned_lanes(len(documents)), aligned_lanes(len(documents))
        block_descent.score(rows, solution, documents, found)
        block_descent_plain.score(rows, solution, documents, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_block_does_not_see_the_solution_of_the_one_before() -> None:
    rows, block = problem(6, 16, LOGISTIC)
    first = descended(block_descent, rows, block, 0.1)
    descended(block_descent, *problem(7, 3, LOGISTIC), 0.1)
    again = descended(block_descent, rows, block, 0.1)
    assert first[0] == again[0]
    assert all(map(np.array_equal, first[1], again[1]))
