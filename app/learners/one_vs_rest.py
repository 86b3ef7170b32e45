"""One-vs-rest: a linear classifier for every label, each on its own against all other documents."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.label_weights import LabelWeights
from app.learners.linear_options import parse_options
from app.learners.linear_training import train_labels
from app.state import State

SOLVERS = ("auto", "block", "liblinear")


class OneVsRest:
    """Linear scores w·x + b per label; `options` as LIBLINEAR writes them.

    `solver`: `block` trains sixteen labels at once, `liblinear` one after the other, `auto` takes
    the first where it applies. Weights below `prune` are dropped, the bias never. `costs` multiply
    the cost of each label's positive documents.
    """

    kind: ClassVar[str] = "one-vs-rest"
    features: ClassVar[str] = "tfidf"
    zero_is_neutral: ClassVar[bool] = True

    def __init__(
        self,
        options: str = "-s 1 -c 1 -B 1",
        solver: str = "auto",
        prune: float = 0.0,
        *,
        costs: NDArray[np.float64] | None = None,
    ) -> None:
        self.options, self.solver, self.prune, self._costs = options, solver, prune, costs
        if solver not in SOLVERS:
            raise InvalidRequestError(f"no such solver; accepted: {', '.join(SOLVERS)}")
        self._parsed = parse_options(options)
        self._weights: LabelWeights | None = None

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one weight vector per label."""
        self._weights = train_labels(
            features, truth, self._parsed, costs=self._costs, fitting=fitting or Fitting()
        )
        return self

    @property
    def weights(self) -> LabelWeights:
        """What was learnt."""
        if self._weights is None:
            raise InvalidRequestError("this learner has not been fitted")
        return self._weights

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Signed distances (log-odds for the logistic solvers); above 0 speaks for the label."""
        return self.weights.scores(features, jobs=jobs)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], label: int
    ) -> tuple[NDArray[np.float32], float]:
        """What each feature of a document adds to one label's score, and the bias."""
        return self.weights.of_label(columns, label) * values, float(self.weights.bias[label])

    def state(self) -> State:
        """Settings and weights."""
        settings = {"options": self.options, "solver": self.solver, "prune": self.prune}
        return State(self.kind, settings, self.weights.arrays())

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner._weights = LabelWeights.from_arrays(state.arrays)
        return learner
