"""The one protocol every stored decision keeps."""

from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.state import State


class Decision(Protocol):
    """Turns scores into labels, document by document. Tuning one is done elsewhere."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What the user asked for: `zero`, `rank:3`, `micro-f`, …"""
        ...

    @property
    def cuts(self) -> NDArray[np.float32] | None:
        """Per-label thresholds (`score > cut`, strictly); None for a decision by rank."""
        ...

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels that pass."""
        ...

    def state(self) -> State:
        """Everything needed to build an equal decision."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal decision again."""
        ...
