"""Trains sixteen labels at once, and their out-of-fold scores while the block is at hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.engine import Task, TaskArrays
from app.folds import Folds, Split
from app.kernels import kernels, warm
from app.kernels.solver.types import (
    HINGE,
    LANES,
    LOGISTIC,
    SQUARED_HINGE,
    LabelBlock,
    Solution,
    aligned_lanes,
    block_of,
    unsolved,
)
from app.learners.base import Fitting
from app.learners.linear.block_rows import BlockRows, FoldRows
from app.learners.linear.count_ratios import CountRatios, count_ratios
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.options import LinearOptions
from app.learners.linear.problem import LinearProblem, SolvedLabels, constant_scores
from app.learners.linear.shared_problem import (
    NoScores,
    problem_arrays,
    problem_of,
    problem_settings,
)
from app.learners.out_of_fold.scores import OutOfFoldScores
from app.resources.scratch import release
from app.state import State

LOSSES = {1: SQUARED_HINGE, 3: HINGE, 7: LOGISTIC}
"""The solvers this can stand in for: their dual problem is the one solved here."""
FINEST_TOLERANCE = 1e-4
"""Below it single precision would not reach the end."""

FOLD_TOLERANCE = 10
"""How much sooner a fold ends: it starts near its optimum, and out-of-fold scores then differ from
exact ones by a few thousandths, those of positives not upwards (docs/learners.md). A model of the
documents before a part forgets most of what it starts from, and ends at the tolerance itself."""
SEEDS_A_BLOCK = 1009
SCORED = 1 << 14
"""Documents that are scored before pages of their values are released."""


@dataclass(frozen=True, slots=True)
class HeldOutFolds:
    """The folds, and where the scores of held-out documents are collected."""

    folds: Folds
    scores: OutOfFoldScores


def train_blocks(
    problem: LinearProblem, fitting: Fitting, held_out: HeldOutFolds | None = None
) -> LabelWeights:
    """Weights and bias of every label; out-of-fold scores go to `held_out.scores`."""
    warm(fitting.progress, ("solver.block_descent",))
    return problem.combined(BlockTraining(problem, fitting, held_out).solved_blocks())


def solved_blocks(
    problem: LinearProblem, fitting: Fitting, *, blocks: range | None = None
) -> Iterator[SolvedLabels]:
    """The weights of every block of labels, or of some, one after the other."""
    return BlockTraining(problem, fitting, None).solved_blocks(blocks)


def fold_rows(problem: LinearProblem, folds: Folds | None, fitting: Fitting) -> FoldRows:
    """The documents as the solver reads them; without folds, none is held out."""
    documents = BlockRows.of(problem.features, problem.options.bias)
    if folds is None:
        return FoldRows(documents, documents.rows)
    held_out = fitting.held_out_rows(problem.features, folds)
    return FoldRows(documents, documents.with_values(held_out, fitting.scratch))


def takes_blocks(options: LinearOptions) -> bool:
    """Whether these options can be trained in blocks."""
    return options.solver in LOSSES and options.tolerance >= FINEST_TOLERANCE


class BlockTraining:
    """The documents as all blocks share them, and the work on one block, which is one task."""

    kind: ClassVar[str] = "label-blocks"

    def __init__(
        self,
        problem: LinearProblem,
        fitting: Fitting,
        held_out: HeldOutFolds | None,
        rows: FoldRows | None = None,
    ) -> None:
        self.problem, self.fitting, self.held_out = problem, fitting, held_out
        folds = None if held_out is None else held_out.folds
        self.documents, self.held_out_rows = rows or fold_rows(problem, folds, fitting)
        self.loss, self.tolerance = LOSSES[problem.options.solver], problem.options.tolerance
        self.every_document = np.arange(problem.n_documents, dtype=np.int32)
        self.fold_tolerance = self.tolerance
        self.splits: list[Split] = []
        if held_out is not None:
            self.splits = list(held_out.folds.splits())
            self.fold_tolerance *= 1 if held_out.folds.is_forward else FOLD_TOLERANCE
        self.kernel = kernels("solver.block_descent")
        self.learnable = problem.learnable()
        self.ratios = self.ratios_of([self.every_document, *(s.outside for s in self.splits)])

    def ratios_of(self, samples: Sequence[NDArray[Any]]) -> Sequence[CountRatios | None]:
        """The count ratios of each sample of the documents; None each where none are wanted."""
        if not self.problem.ratios:
            return [None] * len(samples)
        return count_ratios(self.documents, samples, self.problem.ratios)

    def solved_blocks(self, blocks: range | None = None) -> Iterator[SolvedLabels]:
        """Every block's weights, or those of some, and on the way their held-out scores."""
        n_labels, done = len(self.learnable), 0
        self._hold_out_constants(self.learnable)
        every = range(-(-n_labels // LANES))
        tasks = [(number,) for number in every if blocks is None or number in blocks]
        for labels, bias, *weights, scores in self.fitting.map(self, tasks):
            if self.held_out is not None:
                self.held_out.scores.put(self.every_document, labels, scores)
            done += len(labels)
            self.fitting.progress("train", done, n_labels)
            yield SolvedLabels(labels, bias, (weights[0], weights[1], weights[2]))

    def run(self, task: Task) -> TaskArrays:
        """A block's labels, their bias, their weights (features, labels, values), their scores."""
        labels = self.learnable[task[0] * LANES : (task[0] + 1) * LANES]
        solved, scores = self._train((task[0], labels))
        return solved.labels, solved.bias, *solved.weights, scores if self.splits else scores[:0]

    def shared(self) -> State:
        """The problem, the seed, the folds, and held-out rows where they differ from the others."""
        settings = {**problem_settings(self.problem), "seed": self.fitting.seed}
        arrays = problem_arrays(self.problem, FoldRows(self.documents, self.held_out_rows))
        if self.held_out is not None:
            arrays["parts"] = self.held_out.folds.parts
            settings["is_forward"] = self.held_out.folds.is_forward
        return State(self.kind, settings, arrays)

    @classmethod
    def from_shared(cls, state: State) -> "BlockTraining":
        """An equal training, whose scores are those of its tasks alone."""
        warm(names=("solver.block_descent",))
        settings, arrays, held_out = state.settings, state.arrays, None
        if "parts" in arrays:
            held_out = HeldOutFolds(Folds(arrays["parts"], settings["is_forward"]), NoScores())
        problem, rows = problem_of(state)
        return cls(problem, Fitting(seed=settings["seed"]), held_out, rows)

    def _train(
        self, numbered: tuple[int, NDArray[Any]]
    ) -> tuple[SolvedLabels, NDArray[np.float32]]:
        number, labels = numbered
        block = self.block(labels, self.ratios[0])
        solution = unsolved(len(self.documents.kept), self.problem.n_documents, self.loss)
        seed = (self.fitting.seed * 1_000_003 + number) * SEEDS_A_BLOCK
        self._descend(block, solution, self.every_document, seed, self.problem.options.tolerance)
        solved = self._solved(labels, block, solution)
        scores = np.full((self.problem.n_documents, len(labels)), -np.inf, np.float32)
        for fold, split in enumerate(self.splits, start=1):
            lanes = self._fold_scores(block, solution.copy(), fold, seed + fold)
            scores[split.inside] = lanes[:, : len(labels)]
            self._set_constant_scores(scores, labels, split)
        return solved, scores

    def _descend(
        self, block: LabelBlock, solution: Solution, documents: Any, seed: int, tolerance: float
    ) -> None:
        rows, end = self.documents.rows, np.float32(tolerance)
        self.kernel.descend(rows, block, solution, documents, end, seed)

    def block(self, labels: NDArray[Any], ratios: CountRatios | None = None) -> LabelBlock:
        """The marks and costs of up to sixteen labels, and each one's scales of the features."""
        marks = np.zeros(self.problem.n_documents, np.uint16)
        for lane, label in enumerate(labels):
            marks[self.problem.positives(label)] |= np.uint16(1 << lane)
        options = self.problem.options
        positive = options.positive_cost * self.problem.costs[labels]
        negative = np.full(len(labels), options.negative_cost)
        block = block_of(marks, positive, negative, self.loss)
        return block if ratios is None else ratios.scaled(block)

    def _fold_scores(
        self, block: LabelBlock, solution: Solution, fold: int, seed: int
    ) -> NDArray[np.float32]:
        """Scores of held-out documents, starting from the solution that still knew them.

        Folds count from 1. Each has ratios of its own: labels of held-out documents count nowhere.
        """
        (inside, outside), ratios = self.splits[fold - 1], self.ratios[fold]
        forgotten = np.setdiff1d(self.every_document, outside, assume_unique=True)
        self.kernel.forget(self.documents.rows, block, solution, forgotten)
        if ratios is not None:
            block = ratios.scaled(block)
            self.kernel.rebuild(self.documents.rows, block, solution, outside)
        self._descend(block, solution, outside, seed, self.fold_tolerance)
        solution.weights[np.abs(solution.weights) <= self.problem.cut] = 0
        scores = aligned_lanes(len(inside))
        for start in range(0, len(inside), SCORED):
            some, lanes = inside[start : start + SCORED], slice(start * LANES, None)
            self.kernel.score(self.held_out_rows, solution, some, scores[lanes])
            release(self.held_out_rows.values)
        return scores.reshape(-1, LANES)

    def _set_constant_scores(self, scores: Any, labels: NDArray[Any], split: Split) -> None:
        """Give a label that all or no documents outside the fold have its constant score inside."""
        is_outside = np.zeros(self.problem.n_documents, np.bool_)
        is_outside[split.outside] = True
        for column, label in enumerate(labels):
            n_positive = np.count_nonzero(is_outside[self.problem.positives(label)])
            if n_positive in (0, len(split.outside)):
                everywhere = np.array([n_positive > 0])
                constant = constant_scores(everywhere, len(split.outside), self.problem.options)
                scores[split.inside, column] = constant[0]

    def _hold_out_constants(self, learnable: NDArray[Any]) -> None:
        if self.held_out is None:
            return
        constant = np.setdiff1d(np.arange(self.problem.truth.shape[1]), learnable)
        is_positive = np.diff(self.problem.truth.indptr)[constant] > 0
        n_documents = self.problem.n_documents
        row = constant_scores(is_positive, n_documents, self.problem.options)
        for start in range(0, len(constant), LANES):
            labels = slice(start, start + LANES)
            scored = self.held_out.folds.scored()
            scores = np.broadcast_to(row[labels], (len(scored), len(row[labels])))
            self.held_out.scores.put(scored, constant[labels], scores)

    def _solved(self, labels: NDArray[Any], block: LabelBlock, solution: Solution) -> SolvedLabels:
        """The block's weights that are not pruned; those of singleton features are read off the
        dual variable of their document, the only one that moves them."""
        n, cut, singletons = len(labels), self.problem.cut, self.documents.singletons
        weights = solution.weights.reshape(-1, LANES)[:, :n]
        rows, lanes = np.nonzero(np.abs(weights) > cut)
        duals = singleton_duals(block, solution, singletons.documents)[:, :n]
        single = singletons.values[:, None] * duals
        single_rows, single_lanes = np.nonzero(np.abs(single) > cut)
        columns = [self.documents.kept[rows], singletons.features[single_rows]]
        entries = (
            np.concatenate(columns).astype(np.int32),
            np.concatenate([labels[lanes], labels[single_lanes]]).astype(np.int32),
            np.concatenate([weights[rows, lanes], single[single_rows, single_lanes]]),
        )
        return SolvedLabels(labels, solution.bias[:n] * self.documents.rows.bias, entries)


def singleton_duals(block: LabelBlock, solution: Solution, documents: NDArray[Any]) -> Any:
    """Each document's push on the weights of its singleton features, (documents, lanes)."""
    duals = solution.duals.reshape(-1, LANES)[documents]
    is_positive = (block.marks[documents][:, None] >> np.arange(LANES, dtype=np.uint16)) & 1 == 1
    if block.loss == LOGISTIC:
        costs = np.where(is_positive, block.positive_costs, block.negative_costs)
        duals = costs / (1 + np.exp(np.clip(-duals, -80, 80)))
    if len(block.scales.squares):
        negative, positive = block.scales.singleton_squares.reshape(2, LANES)
        duals = duals * np.where(is_positive, positive, negative)
    return np.where(is_positive, duals, -duals)
