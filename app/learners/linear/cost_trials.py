"""Tries costs in blocks: in a fold, each cost of a grid starts where the one before it ended."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.engine import Task, TaskArrays
from app.folds import Folds
from app.kernels import warm
from app.kernels.solver.types import LANES, LOGISTIC, aligned_lanes, unsolved
from app.learners.base import Fitting
from app.learners.linear.block_rows import FoldRows
from app.learners.linear.block_training import BlockTraining, fold_rows
from app.learners.linear.problem import LinearProblem
from app.learners.linear.shared_problem import problem_arrays, problem_of, problem_settings
from app.state import State

SEEDS_A_BLOCK = 1013


def tried_costs(
    problem: LinearProblem, grid: tuple[float, ...], folds: Folds, fitting: Fitting
) -> NDArray[np.int64]:
    """(costs of positives, labels, 3): TP, FP and FN at the cut 0 over all held-out documents."""
    counts = np.zeros((len(grid), problem.truth.shape[1], 3), np.int64)
    everywhere = np.diff(problem.truth.indptr) == problem.n_documents
    counts[:, everywhere, 0] = problem.n_documents
    trials = CostTrials(problem, [(cost, 1.0) for cost in grid], folds, fitting)
    for block, scores, truth in trials.held_out_scores("try costs"):
        decided = scores > 0
        cells = (decided & truth, decided & ~truth, ~decided & truth)
        counts[:, block] = np.stack([cell.sum(axis=1) for cell in cells], axis=2)
    return counts


class CostTrials:
    """Factors on the costs of positive and of negative documents, tried on the same folds.

    A block of labels is a task.
    """

    kind: ClassVar[str] = "cost-trials"

    def __init__(
        self,
        problem: LinearProblem,
        grid: Sequence[tuple[float, float]],
        folds: Folds,
        fitting: Fitting,
        rows: FoldRows | None = None,
    ) -> None:
        self.rows, self.grid, self.folds = rows or fold_rows(problem, folds, fitting), grid, folds
        self.training = BlockTraining(problem, fitting, None, self.rows)
        self.splits = list(folds.splits())
        self.ratios = self.training.ratios_of([split.outside for split in self.splits])

    def held_out_scores(
        self, stage: str
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_]]]:
        """Blocks of labels; their scores (costs, documents, labels); their truth.

        Documents that no fold scores have −inf.
        """
        problem, fitting = self.training.problem, self.training.fitting
        warm(fitting.progress, ("solver.block_descent",))
        labels = problem.learnable()
        blocks = [labels[i : i + LANES] for i in range(0, len(labels), LANES)]
        results = fitting.map(self, [(number,) for number in range(len(blocks))])
        for done, (block, (scores,)) in enumerate(zip(blocks, results, strict=True), start=1):
            fitting.progress(stage, done, len(blocks))
            yield block, scores, problem.truth[:, block].toarray()

    def run(self, task: Task) -> TaskArrays:
        """The scores of one block of labels: (costs, documents, labels)."""
        labels = self.training.problem.learnable()[task[0] * LANES : (task[0] + 1) * LANES]
        return (self._scores(task[0], labels),)

    def shared(self) -> State:
        """The problem, what is tried, and held-out rows where they differ from the others."""
        training = self.training
        grid = [[float(factor) for factor in factors] for factors in self.grid]
        settings = {**problem_settings(training.problem), "seed": training.fitting.seed}
        settings |= {"grid": grid, "is_forward": self.folds.is_forward}
        arrays = {**problem_arrays(training.problem, self.rows), "parts": self.folds.parts}
        return State(self.kind, settings, arrays)

    @classmethod
    def from_shared(cls, state: State) -> "CostTrials":
        """Equal trials, on a worker."""
        warm(names=("solver.block_descent",))
        settings, arrays = state.settings, state.arrays
        grid = [(positive, negative) for positive, negative in settings["grid"]]
        folds = Folds(arrays["parts"], settings["is_forward"])
        problem, rows = problem_of(state)
        return cls(problem, grid, folds, Fitting(seed=settings["seed"]), rows)

    def _scores(self, number: int, labels: NDArray[Any]) -> NDArray[np.float32]:
        seed = (self.training.fitting.seed * 1_000_003 + number) * SEEDS_A_BLOCK
        shape = (len(self.grid), self.training.problem.n_documents, len(labels))
        scores = np.full(shape, -np.inf, np.float32)
        for fold, (inside, _) in enumerate(self.splits):
            for i, lanes in enumerate(self._fold_scores(labels, fold, seed + fold)):
                scores[i, inside] = lanes[:, : len(labels)]
        return scores

    def _fold_scores(
        self, labels: NDArray[Any], fold: int, seed: int
    ) -> Iterator[NDArray[np.float32]]:
        """The scores of the documents inside the fold, at each cost in turn."""
        training, (inside, outside) = self.training, self.splits[fold]
        block = training.block(labels, self.ratios[fold])
        positive, negative = block.positive_costs.copy(), block.negative_costs.copy()
        rows, tolerance = training.documents.rows, np.float32(training.tolerance)
        solution = self._start(block.loss)
        for factors in self.grid:
            if block.loss == LOGISTIC:  # dual variables are shares of the cost: no warm start
                solution = self._start(block.loss)
            block.positive_costs[:] = positive * np.float32(factors[0])
            block.negative_costs[:] = negative * np.float32(factors[1])
            training.kernel.descend(rows, block, solution, outside, tolerance, seed)
            pruned, scores = solution.copy(), aligned_lanes(len(inside))
            pruned.weights[np.abs(pruned.weights) <= training.problem.cut] = 0
            training.kernel.score(self.rows.held_out, pruned, inside, scores)
            yield scores.reshape(-1, LANES)

    def _start(self, loss: int) -> Any:
        training = self.training
        return unsolved(len(training.documents.kept), len(training.every_document), loss)
