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
    FeatureScales,
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


def with_scales(block: LabelBlock, rows: SolverRows, seed: int) -> LabelBlock:
    """The block with random scales of the features, some of them 0."""
    random = np.random.default_rng(seed)
    scales = FeatureScales(*map(aligned_lanes, (N_FEATURES, 2, N_DOCUMENTS, N_DOCUMENTS)))
    scales.squares[:] = random.uniform(-0.1, 1, len(scales.squares)).clip(0)
    scales.singleton_squares[:] = random.uniform(0.5, 1, 2 * LANES)
    marks = (block.marks[:, None] >> np.arange(LANES)) & 1
    single = scales.singleton_squares.reshape(2, LANES)[marks, np.arange(LANES)]
    singleton_norms, norms = (array.reshape(-1, LANES) for array in scales[2:])
    singleton_norms[:] = rows.singleton_norms[:, None] * single
    for document in range(N_DOCUMENTS):
        span = slice(rows.starts[document], rows.starts[document + 1])
        squares = scales.squares.reshape(-1, LANES)[rows.columns[span]]
        norms[document] = rows.values[span] ** 2 @ squares + singleton_norms[document] + 1
    return block._replace(scales=scales)


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
@pytest.mark.parametrize("is_scaled", [False, True])
def test_a_descent_ends_where_the_plain_one_ends(loss: int, n_labels: int, is_scaled: bool) -> None:
    for seed in range(3):
        rows, block = problem(seed, n_labels, loss)
        block = with_scales(block, rows, seed) if is_scaled else block
        steps, solution = descended(block_descent, rows, block, 0.01)
        plain_steps, plain = descended(block_descent_plain, rows, block, 0.01)
        assert steps == pytest.approx(plain_steps, rel=0.2)  # rounding decides the last few
        found, expected = (scores(rows, own)[:, :n_labels] for own in (solution, plain))
        np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
@pytest.mark.parametrize("is_scaled", [False, True])
def test_one_pass_of_all_documents_moves_every_lane_alike(loss: int, is_scaled: bool) -> None:
    """At a tolerance that one pass meets, rounding has had no time to add up.

    At low costs, at which the logistic loss's few Newton steps arrive: elsewhere a last digit of
    numpy's exp, which is not the same on all processors, decides where they are stopped.
    """
    rows, block = problem(9, 16, loss)
    block = block._replace(
        positive_costs=block.positive_costs / 2, negative_costs=block.negative_costs / 2
    )
    block = with_scales(block, rows, 9) if is_scaled else block
    (passes, visits), solution = descended(block_descent, rows, block, 1e9)
    plain_steps, plain = descended(block_descent_plain, rows, block, 1e9)
    assert (passes, visits) == plain_steps == (1, N_DOCUMENTS)
    for name, mine, its in zip(solution._fields, solution, plain, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
@pytest.mark.parametrize("is_scaled", [False, True])
def test_documents_that_are_forgotten_leave_what_the_plain_version_leaves(
    loss: int, is_scaled: bool
) -> None:
    rows, block = problem(4, 11, loss)
    block = with_scales(block, rows, 4) if is_scaled else block
    _, solution = descended(block_descent, rows, block, 0.1)
    plain = solution.copy()
    gone = EVERYONE[::3].copy()
    for module, own in zip(MODULES, (solution, plain), strict=True):
        module.forget(rows, block, own, gone)
    assert_close(solution, plain, block)
    unused = unsolved(1, 1, loss).duals[0]
    assert (solution.duals.reshape(-1, LANES)[gone] == unused).all()


@pytest.mark.parametrize("loss", [SQUARED_HINGE, HINGE, LOGISTIC])
@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize("module", MODULES)
def test_weights_that_are_rebuilt_are_those_that_the_descent_left(
    module: Any, loss: int, is_scaled: bool
) -> None:
    rows, block = problem(8, 11, loss)
    block = with_scales(block, rows, 8) if is_scaled else block
    _, solution = descended(block_descent, rows, block, 0.1)
    rebuilt = solution.copy()
    rebuilt.weights[:], rebuilt.bias[:] = 9, 9
    module.rebuild(rows, block, rebuilt, EVERYONE)
    assert_close(solution, rebuilt, block)


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
