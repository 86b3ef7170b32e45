"""One-vs-rest: a linear classifier for every label, each on its own against all other documents."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.folds import Folds
from app.heldout import HeldOut
from app.kernels import compiled
from app.kernels.solver.types import LANES
from app.learners.base import CostTrial, Fitting
from app.learners.linear.block_training import (
    FINEST_TOLERANCE,
    FOLD_TOLERANCE,
    LOSSES,
    HeldOutFolds,
    takes_blocks,
    train_blocks,
)
from app.learners.linear.c_choice import ChosenC, chosen_c
from app.learners.linear.cost_trials import CostTrials
from app.learners.linear.label_training import train_labels
from app.learners.linear.linear_learner import LinearLearner
from app.learners.linear.options import LinearOptions, parse_options
from app.learners.linear.problem import LinearProblem, mean_sum
from app.learners.out_of_fold.scores import out_of_fold_scores
from app.resources.need import DataSizes, FitBytes

SOLVERS = ("auto", "block", "liblinear")
PRUNED_FROM = 2**22
"""Weights (features times labels) up to which none is dropped."""
PRUNE = 0.12
"""Chosen on training documents held out: what it changes is in docs/learners.md."""
BYTES_OF_LANES = 4 * LANES
"""A dual variable, weight or score of sixteen labels."""
MOST_RATIOS = 2
AUTO = "auto"
SMALL, SMALL_TOLERANCE = 2**22, 1e-3
"""Numbers in the documents, times labels, up to which a finer tolerance costs next to nothing."""


class OneVsRest(LinearLearner):
    """Linear scores w·x + b per label; `options` as LIBLINEAR writes them.

    `solver`: `block` trains sixteen labels at once, `liblinear` one after the other, `auto` takes
    the first where it applies. The smallest weights are dropped as long as no score of an average
    document can change by more than `prune`, the bias never. `ratios` above 0 is the power of the
    count ratios that each label's features are multiplied with (linear/count_ratios.py). `c` stands
    in for the -c of `options`; `auto` chooses it by held-out documents (linear/c_choice.py).
    `costs` multiply the cost of each label's positive documents.
    """

    kind: ClassVar[str] = "one-vs-rest"
    vectorizer_kind: ClassVar[str] = "tfidf"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = {"scheme": "log"}
    untuned_settings: ClassVar[Mapping[str, Any]] = {"prune": 0.0}
    """The untuned model keeps every weight, to be comparable with LIBLINEAR's own."""

    def __init__(
        self,
        options: str = "-s 1 -c 1 -B 1",
        solver: str = "auto",
        prune: float = PRUNE,
        ratios: float = 0.0,
        c: float | str | None = None,
        *,
        costs: NDArray[np.float64] | None = None,
    ) -> None:
        self.options, self.solver, self.prune, self._costs = options, solver, prune, costs
        self.ratios, self.c = ratios, c
        self._parsed = parse_options(options)
        self._check()
        if c is not None and c != AUTO:
            self._parsed = replace(self._parsed, cost=float(c))
        self._chosen: ChosenC | None = None
        self._n_labels: int | None = None  # of all, where this learns some of them

    def _check(self) -> None:
        if self.solver not in SOLVERS:
            raise InvalidRequestError(f"no such solver; accepted: {', '.join(SOLVERS)}")
        if not 0 <= self.ratios <= MOST_RATIOS:
            raise InvalidRequestError(f"ratios is a power from 0 (none) to {MOST_RATIOS}")
        if not (self.c is None or self.c == AUTO or _is_cost(self.c)):
            raise InvalidRequestError(f"c is a number above 0, or {AUTO!r}")
        if self._needs_blocks() and self.solver == "liblinear":
            raise InvalidRequestError(
                f"ratios and c = {AUTO!r} are trained in blocks; accepted solvers: auto, block"
            )
        if (self._needs_blocks() or self.solver == "block") and not takes_blocks(self._parsed):
            accepted = ", ".join(f"-s {number}" for number in LOSSES)
            raise InvalidRequestError(
                f"solver block takes {accepted} with -e {FINEST_TOLERANCE:g} or more"
            )

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one weight vector per label."""
        fitting = fitting or Fitting()
        problem = self._choose_c(self.problem(features, truth), fitting)
        train = train_blocks if self.uses_blocks() else train_labels
        self.weights = train(problem, fitting)
        return self

    def fit_with_held_out(
        self, features: Features, truth: Truth, folds: Folds, fitting: Fitting
    ) -> HeldOut | None:
        """Learn, and out-of-fold scores for less than the folds would cost one by one.

        None, and nothing learnt, where the solver has no such short cut. A C that is chosen is
        not chosen again in every fold: one number out of six is thus found with a look at the
        held-out documents.
        """
        if not self.uses_blocks():
            return None
        held_out = HeldOutFolds(folds, out_of_fold_scores(truth, scratch=fitting.scratch))
        problem = self._choose_c(self.problem(features, truth), fitting)
        self.weights = train_blocks(problem, fitting, held_out)
        return held_out.scores.held_out().at(folds.scored())

    def held_out_at_costs(
        self, features: Features, truth: Truth, folds: Folds, trial: CostTrial, fitting: Fitting
    ) -> list[Scores] | None:
        """Held-out scores at each C, which starts from the solution of the one before it.

        They end at ten times the tolerance: good enough to compare. None without blocks.
        """
        if self.solver == "liblinear" or not takes_blocks(self._parsed):
            return None
        problem = self.problem(features, truth, n_labels=trial.n_labels)
        options = replace(problem.options, tolerance=FOLD_TOLERANCE * problem.options.tolerance)
        grid = [(1.0, 1.0)]
        if trial.costs:
            options, grid = replace(options, cost=1.0), [(cost, cost) for cost in trial.costs]
        trials = CostTrials(replace(problem, options=options), grid, folds, fitting)
        scores = np.full((len(grid), *truth.shape[::-1]), -np.inf, np.float32)
        for labels, found, _ in trials.held_out_scores(trial.stage):
            scores[:, labels] = found.transpose(0, 2, 1)  # a label's scores side by side
        return [own.T for own in scores]

    def for_labels(self, labels: NDArray[np.int64]) -> "OneVsRest":
        """The same settings and the costs of these labels, pruned and solved as all are."""
        costs = None if self._costs is None else self._costs[labels]
        learner = OneVsRest(**self.settings(), costs=costs)
        learner._n_labels = len(self.weights.bias)
        return learner

    def problem(
        self, features: Features, truth: Truth, *, n_labels: int | None = None
    ) -> LinearProblem:
        """What the solvers are asked; where all weights fit into 16 MB, all are kept.

        `n_labels` is how many there are in all, where the truth is of some of them.
        """
        n_labels = n_labels or self._n_labels or truth.shape[1]
        is_pruned = features.shape[1] * n_labels > PRUNED_FROM
        cut = self.prune / mean_sum(features) if is_pruned else 0.0
        options = self._options(features.nnz * n_labels)
        return LinearProblem.of(
            features, truth, options, costs=self._costs, cut=cut, ratios=self.ratios
        )

    def _choose_c(self, problem: LinearProblem, fitting: Fitting) -> LinearProblem:
        """The problem with the C that is best for held-out documents, where one is to be chosen."""
        if self.c != AUTO:
            return problem
        self._chosen = chosen_c(problem, fitting)
        return replace(problem, options=replace(problem.options, cost=self._chosen.cost))

    def _options(self, size: int) -> LinearOptions:
        """As asked for, but small problems are solved more finely: one document counts there."""
        if size > SMALL or not self.uses_blocks():
            return self._parsed
        return replace(self._parsed, tolerance=min(self._parsed.tolerance, SMALL_TOLERANCE))

    def uses_blocks(self) -> bool:
        """Whether sixteen labels are trained at once."""
        if self.solver == "auto" and not self._needs_blocks():
            return compiled() and takes_blocks(self._parsed)
        return self.solver != "liblinear"

    def _needs_blocks(self) -> bool:
        return self.ratios > 0 or self.c == AUTO

    def bytes_of_fit(self, sizes: DataSizes) -> FitBytes:
        """As block_training.py has it: its rows, and sixteen labels' numbers for each of the jobs.

        With folds, their values beside the others', made from a matrix of their own.
        """
        if not self.uses_blocks():
            return super().bytes_of_fit(sizes)
        n_solutions, has_folds = (2, 1) if sizes.n_folds > 1 else (1, 0)
        scores = BYTES_OF_LANES * sizes.n_documents * has_folds
        solution = BYTES_OF_LANES * (sizes.n_documents + sizes.n_features)
        solving = sizes.jobs * (n_solutions * solution + scores)
        preparing = 5 * sizes.n_entries * has_folds
        rows = 8 * sizes.n_entries + max(preparing, solving)
        kept = (8 + 4 * has_folds) * sizes.n_entries + sizes.held_out_bytes
        return FitBytes(kept + rows, rows)

    def problems_of_fit(self, n_labels: int) -> int:
        """One a label, and those of the search for C."""
        return n_labels + (self._chosen.n_problems if self._chosen else 0)

    def settings(self) -> dict[str, Any]:
        """The settings of the constructor; of a fitted learner with the C that was chosen."""
        return {
            "options": self.options,
            "solver": self.solver,
            "prune": self.prune,
            "ratios": self.ratios,
            "c": self.c if self._chosen is None else self._chosen.cost,
        }


def _is_cost(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")
