"""Hand-written rules alone: nothing is learnt, every score is 0, and the rules decide.

Rules read the words of a text in their order, which rows of features do not have. So they are no
learner: the model has this one, which assigns nothing, and the rules over its decisions, as any
model can have them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.learners.base import Contributions, Fitting, Learner
from app.state import State


class HandRulesAlone(Learner):
    """Knows the labels of the training documents; `rules` is the file that decides them."""

    kind: ClassVar[str] = "hand-rules"
    zero_is_neutral: ClassVar[bool] = True
    decision_settings: ClassVar[Mapping[str, Any]] = {"name": "zero", "folds": 0}

    def __init__(self, rules: str = "") -> None:
        self._rules, self._n_labels = rules, 0

    @property
    def rules_file(self) -> str:
        """The file of rules; empty in a trained model, which has the rules themselves."""
        return self._rules

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Count the labels; nothing is learnt."""
        if not self._rules:
            raise InvalidRequestError("hand-rules: set learner.rules to a file of [[rule]] tables")
        self._n_labels = truth.shape[1]
        return self

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """0 for every label."""
        return np.zeros((features.shape[0], self._n_labels), np.float32)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions]:
        """Nothing, from every feature."""
        return [Contributions(np.zeros(len(columns)), 0.0) for _ in labels]

    def state(self) -> State:
        """The number of labels."""
        return State(self.kind, {"labels": self._n_labels})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls()
        learner._n_labels = state.settings["labels"]
        return learner
