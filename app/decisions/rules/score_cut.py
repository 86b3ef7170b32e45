"""Score cut: a label is assigned where its score is above the label's own threshold."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.state import State


@dataclass(frozen=True, slots=True)
class ScoreCut:
    """Per-label thresholds, however they were tuned; `name` says how (`zero`, `micro-f`, …)."""

    cuts: NDArray[np.float32]
    name: str = "zero"
    kind: ClassVar[str] = "score-cut"

    @classmethod
    def zero(cls, n_labels: int) -> Self:
        """The untuned cut: score > 0 for every label."""
        return cls(np.zeros(n_labels, np.float32))

    def decide(self, scores: Scores) -> Marks:
        """Mark every label whose score is strictly above its cut."""
        return scores > self.cuts

    def state(self) -> State:
        """One array of cuts."""
        return State(self.kind, {"name": self.name}, {"cuts": self.cuts})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal cut again."""
        return cls(state.arrays["cuts"], state.settings["name"])
