"""Cost-sensitive one-vs-rest: positives cost more than negatives, by as much as helps F1.

After Lin & Lin (2023) and LibMultiLabel: C₊ = a·C for a grid of a; every a is tried on the same
three folds, at the cut 0; then all documents are used once more with the best.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.folds import Folds
from app.heldout import HeldOut
from app.kernels.linear.types import LinearArrays
from app.learners.base import Contributions, Fitting, Learner
from app.learners.linear.cost_trials import tried_costs
from app.learners.linear.label_weights import LabelWeights
from app.learners.one_vs_rest import PRUNE, OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.state import State

GRID = (1.0, 1.33, 1.8, 2.5, 3.67, 6.0, 13.0)
"""a = (2 − t) / t for t = 1, 6/7, 5/7, … 1/7."""
FOLDS = 3
CHUNK = 1024


class CostSensitive(Learner):
    """Each label has the cost of its own best F1; the first in the grid among equals.

    Settings are those of `one-vs-rest`.
    """

    kind: ClassVar[str] = "cost-sensitive"
    vectorizer_kind: ClassVar[str] = "tfidf"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = {"scheme": "log"}

    def __init__(
        self, options: str = "-s 1 -c 1 -B 1", solver: str = "auto", prune: float = PRUNE
    ) -> None:
        self._settings: dict[str, Any] = {"options": options, "solver": solver, "prune": prune}
        self._fitted = OneVsRest(**self._settings)
        self.costs: NDArray[np.float64] = np.zeros(0)

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Find the costs, then learn from all documents with them."""
        fitting = fitting or Fitting()
        self._fitted = self._with_costs(features, truth, fitting).fit(features, truth, fitting)
        return self

    def fit_with_held_out(
        self, features: Features, truth: Truth, folds: Folds, fitting: Fitting
    ) -> HeldOut:
        """Learn, and out-of-fold scores with the same costs: they are not searched in every fold.

        One number a label, out of seven, is thus chosen with a look at the held-out documents.
        """
        self._fitted = self._with_costs(features, truth, fitting)
        _, held_out = fit_with_out_of_fold(self._fitted, features, truth, folds, fitting)
        return held_out

    def for_labels(self, labels: NDArray[np.int64]) -> OneVsRest:
        """One-vs-rest with the costs that were found."""
        return self._fitted.for_labels(labels)

    def _with_costs(self, features: Features, truth: Truth, fitting: Fitting) -> OneVsRest:
        self.costs = np.asarray(GRID)[self._choose(self._tried(features, truth, fitting))]
        return OneVsRest(**self._settings, costs=self.costs)

    def _tried(self, features: Features, truth: Truth, fitting: Fitting) -> NDArray[np.int64]:
        """(costs, labels, 3): TP, FP and FN over the held-out folds for every cost of the grid."""
        counts = np.zeros((len(GRID), truth.shape[1], 3), np.int64)
        if truth.shape[0] < 2:
            return counts
        folds = stratified_folds(truth, min(FOLDS, truth.shape[0]), fitting.seed)
        if self._fitted.uses_blocks():
            return tried_costs(self._fitted.problem(features, truth), GRID, folds, fitting)
        held_out_rows = fitting.held_out_rows(features, folds)
        for i, cost in enumerate(GRID):
            fitting.progress("try costs", i, len(GRID))
            learner = OneVsRest(**self._settings, costs=np.full(truth.shape[1], cost))
            for inside, outside in folds.splits():
                learner.fit(features[outside], truth[outside], fitting)
                counts[i] += _counts(learner, held_out_rows[inside], truth[inside], fitting.jobs)
        return counts

    def _choose(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each label's place in the grid."""
        return np.asarray(np.argmax(_f1(counts), axis=0))

    @property
    def weights(self) -> LabelWeights:
        """What was learnt."""
        return self._fitted.weights

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Signed distances; above 0 speaks for the label."""
        return self._fitted.scores(features, jobs=jobs)

    def problems_of_fit(self, n_labels: int) -> int:
        """One a label for every cost and fold of the search, and one for all documents."""
        return n_labels * (len(GRID) * FOLDS + 1)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions]:
        """What each feature of a document adds to each label's score, exactly."""
        return self.weights.contributions(columns, values, labels)

    def linear_weights(self) -> LinearArrays:
        """The weights and biases of all labels."""
        return self.weights.linear()

    def state(self) -> State:
        """The settings, the costs and the fitted one-vs-rest."""
        parts = {"one-vs-rest": self._fitted.state()}
        return State(self.kind, dict(self._settings), {"costs": self.costs}, parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner.costs = state.arrays["costs"]
        learner._fitted = OneVsRest.from_state(state.parts["one-vs-rest"])
        return learner


class CostSensitiveMicro(CostSensitive):
    """All labels share the cost of the best micro-F1.

    A subclass, since the choice of the cost is all that differs.
    """

    kind: ClassVar[str] = "cost-sensitive-micro"

    def _choose(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        best = np.argmax(_f1(counts.sum(axis=1)))
        return np.full(counts.shape[1], best)


def _counts(learner: OneVsRest, features: Features, truth: Truth, jobs: int) -> NDArray[np.int64]:
    """(labels, 3): TP, FP and FN at the cut 0."""
    counts = np.zeros((truth.shape[1], 3), np.int64)
    for start in range(0, truth.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        marks = learner.scores(features[rows], jobs=jobs) > 0
        true = truth[rows].toarray()
        pairs = (marks & true, marks & ~true, ~marks & true)
        counts += np.stack([cells.sum(axis=0) for cells in pairs], axis=1)
    return counts


def _f1(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    tp, wrong = counts[..., 0], counts[..., 1] + counts[..., 2]
    result: NDArray[np.float64] = 2 * tp / np.maximum(2 * tp + wrong, 1)
    return result
