"""One-vs-rest: a linear classifier for every label, each on its own against all other documents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.folds import Folds
from app.heldout import HeldOut
from app.kernels import compiled
from app.kernels.linear.types import LinearArrays
from app.learners.base import Contributions, Fitting, Learner
from app.learners.linear.block_training import (
    FINEST_TOLERANCE,
    LOSSES,
    HeldOutFolds,
    takes_blocks,
    train_blocks,
)
from app.learners.linear.label_training import train_labels
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.options import LinearOptions, parse_options
from app.learners.linear.problem import LinearProblem, mean_sum
from app.learners.out_of_fold_scores import out_of_fold_scores
from app.state import State

SOLVERS = ("auto", "block", "liblinear")
PRUNED_FROM = 2**22
"""Weights (features times labels) up to which none is dropped."""
PRUNE = 0.12
"""Chosen on training documents held out: what it changes is in docs/learners.md."""
SMALL, SMALL_TOLERANCE = 2**22, 1e-3
"""Numbers in the documents, times labels, up to which a finer tolerance costs next to nothing."""


class OneVsRest(Learner):
    """Linear scores w·x + b per label; `options` as LIBLINEAR writes them.

    `solver`: `block` trains sixteen labels at once, `liblinear` one after the other, `auto` takes
    the first where it applies. The smallest weights are dropped as long as no score of an average
    document can change by more than `prune`, the bias never. `costs` multiply the cost of each
    label's positive documents.
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
        *,
        costs: NDArray[np.float64] | None = None,
    ) -> None:
        self.options, self.solver, self.prune, self._costs = options, solver, prune, costs
        if solver not in SOLVERS:
            raise InvalidRequestError(f"no such solver; accepted: {', '.join(SOLVERS)}")
        self._parsed = parse_options(options)
        if solver == "block" and not takes_blocks(self._parsed):
            accepted = ", ".join(f"-s {number}" for number in LOSSES)
            raise InvalidRequestError(
                f"solver block takes {accepted} with -e {FINEST_TOLERANCE:g} or more"
            )
        self.weights = LabelWeights.unfitted()
        self._n_labels: int | None = None  # of all, where this learns some of them

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one weight vector per label."""
        problem, fitting = self.problem(features, truth), fitting or Fitting()
        train = train_blocks if self.uses_blocks() else train_labels
        self.weights = train(problem, fitting)
        return self

    def fit_with_held_out(
        self, features: Features, truth: Truth, folds: Folds, fitting: Fitting
    ) -> HeldOut | None:
        """Learn, and out-of-fold scores for less than the folds would cost one by one.

        None, and nothing learnt, where the solver has no such short cut.
        """
        if not self.uses_blocks():
            return None
        held_out = HeldOutFolds(folds, out_of_fold_scores(truth))
        self.weights = train_blocks(self.problem(features, truth), fitting, held_out)
        return held_out.scores.held_out().at(folds.scored())

    def for_labels(self, labels: NDArray[np.int64]) -> "OneVsRest":
        """The same settings and the costs of these labels, pruned and solved as all are."""
        costs = None if self._costs is None else self._costs[labels]
        learner = OneVsRest(self.options, self.solver, self.prune, costs=costs)
        learner._n_labels = len(self.weights.bias)
        return learner

    def problem(self, features: Features, truth: Truth) -> LinearProblem:
        """What the solvers are asked; where all weights fit into 16 MB, all are kept."""
        n_labels = self._n_labels or truth.shape[1]
        is_pruned = features.shape[1] * n_labels > PRUNED_FROM
        cut = self.prune / mean_sum(features) if is_pruned else 0.0
        options = self._options(features.nnz * n_labels)
        return LinearProblem.of(features, truth, options, costs=self._costs, cut=cut)

    def _options(self, size: int) -> LinearOptions:
        """As asked for, but small problems are solved more finely: one document counts there."""
        if size > SMALL or not self.uses_blocks():
            return self._parsed
        return replace(self._parsed, tolerance=min(self._parsed.tolerance, SMALL_TOLERANCE))

    def uses_blocks(self) -> bool:
        """Whether sixteen labels are trained at once."""
        if self.solver == "auto":
            return compiled() and takes_blocks(self._parsed)
        return self.solver == "block"

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Signed distances (log-odds for the logistic solvers); above 0 speaks for the label."""
        return self.weights.scores(features, jobs=jobs)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions]:
        """What each feature of a document adds to each label's score, exactly."""
        return self.weights.contributions(columns, values, labels)

    def linear_weights(self) -> LinearArrays:
        """The weights and biases of all labels."""
        return self.weights.linear()

    def state(self) -> State:
        """Settings and weights."""
        settings = {"options": self.options, "solver": self.solver, "prune": self.prune}
        return State(self.kind, settings, self.weights.arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner.weights = LabelWeights(state.arrays)
        return learner
