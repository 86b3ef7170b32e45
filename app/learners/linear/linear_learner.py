"""LinearLearner: what all learners share whose score is weights · features + bias."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores
from app.kernels.linear.types import LinearArrays
from app.learners.base import Contributions, Learner
from app.learners.linear.label_weights import LabelWeights
from app.state import State


class LinearLearner(Learner):
    """A learner that keeps nothing but one weight vector and a bias per label.

    It defines `fit`, which sets `weights`, and `settings`. Labels do not know one another.
    """

    weights: LabelWeights = LabelWeights.unfitted()

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings of the constructor, as JSON."""

    def for_labels(self, labels: NDArray[np.int64]) -> Learner | None:
        """The same settings: no label's weights depend on the other labels."""
        return type(self)(**self.settings())

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Weights times features plus bias."""
        return self.weights.scores(features, jobs=jobs)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions] | None:
        """What each feature of a document adds to each label's score, exactly."""
        return self.weights.contributions(columns, values, labels)

    def linear_weights(self) -> LinearArrays | None:
        """The weights and biases of all labels."""
        return self.weights.linear()

    def state(self) -> State:
        """Settings and weights."""
        return State(self.kind, self.settings(), self.weights.arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner.weights = LabelWeights(state.arrays)
        return learner
