"""Tries costs of positives in blocks: every cost of a grid starts where the one before it ended."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.folds import Folds
from app.kernels.solver.types import LANES, LOGISTIC, aligned_lanes, unsolved
from app.learners.base import Fitting
from app.learners.linear.block_training import BlockTraining
from app.learners.linear.problem import LinearProblem
from app.learners.ordered_map import ordered_map

SEEDS_A_BLOCK = 1013


def tried_costs(
    problem: LinearProblem, grid: tuple[float, ...], folds: Folds, fitting: Fitting
) -> NDArray[np.int64]:
    """(costs, labels, 3): TP, FP and FN at the cut 0 over all held-out documents."""
    counts = np.zeros((len(grid), problem.truth.shape[1], 3), np.int64)
    everywhere = np.diff(problem.truth.indptr) == problem.n_documents
    counts[:, everywhere, 0] = problem.n_documents
    trials = _CostTrials(BlockTraining(problem, fitting, None), grid, folds)
    labels = problem.learnable()
    blocks = [labels[i : i + LANES] for i in range(0, len(labels), LANES)]
    results = ordered_map(trials.counts, enumerate(blocks), fitting.jobs)
    for done, (block, block_counts) in enumerate(zip(blocks, results, strict=True), start=1):
        counts[:, block] = block_counts
        fitting.progress("try costs", done, len(blocks))
    return counts


class _CostTrials:
    """The grid and the folds, and the work on one block."""

    def __init__(self, training: BlockTraining, grid: tuple[float, ...], folds: Folds) -> None:
        self.training, self.grid = training, grid
        held_out_rows = training.fitting.held_out_rows(training.problem.features, folds)
        self.held_out_rows = training.documents.with_values(held_out_rows)
        self.splits = list(folds.splits())

    def counts(self, numbered: tuple[int, NDArray[Any]]) -> NDArray[np.int64]:
        """(costs, labels of the block, 3) over all folds."""
        number, labels = numbered
        seed = (self.training.fitting.seed * 1_000_003 + number) * SEEDS_A_BLOCK
        folds = [self._fold(labels, split, seed + i) for i, split in enumerate(self.splits)]
        return np.asarray(np.sum(folds, axis=0), np.int64)

    def _fold(self, labels: NDArray[Any], split: Any, seed: int) -> NDArray[np.int64]:
        inside, outside = split
        training, counts = self.training, np.zeros((len(self.grid), len(labels), 3), np.int64)
        block = training.block(labels)
        base, truth = block.positive_costs.copy(), _marks(block, inside, len(labels))
        rows, kernel, tolerance = (
            training.documents.rows,
            training.kernel,
            np.float32(training.tolerance),
        )
        solution = self._start(block.loss)
        for i, cost in enumerate(self.grid):
            if block.loss == LOGISTIC:  # dual variables are shares of the cost: no warm start
                solution = self._start(block.loss)
            block.positive_costs[:] = base * np.float32(cost)
            kernel.descend(rows, block, solution, outside, tolerance, seed)
            pruned, scores = solution.copy(), aligned_lanes(len(inside))
            pruned.weights[np.abs(pruned.weights) <= training.problem.cut] = 0
            kernel.score(self.held_out_rows, pruned, inside, scores)
            decided = scores.reshape(-1, LANES)[:, : len(labels)] > 0
            cells = (decided & truth, decided & ~truth, ~decided & truth)
            counts[i] = np.stack([cell.sum(axis=0) for cell in cells], axis=1)
        return counts

    def _start(self, loss: int) -> Any:
        training = self.training
        return unsolved(len(training.documents.kept), len(training.every_document), loss)


def _marks(block: Any, documents: NDArray[Any], n_labels: int) -> NDArray[np.bool_]:
    lanes = np.arange(n_labels, dtype=np.uint16)
    return np.asarray((block.marks[documents][:, None] >> lanes) & 1 == 1)
