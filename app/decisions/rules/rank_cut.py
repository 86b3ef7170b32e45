"""Rank cut (Rcut): every document gets its k best labels."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from app.arrays import Marks, Scores
from app.state import State


@dataclass(frozen=True, slots=True)
class RankCut:
    """The first k labels by falling score, ties by rising label number; unscored ones never."""

    k: int
    kind: ClassVar[str] = "rank-cut"

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"rank:{self.k}"

    @property
    def cuts(self) -> None:
        """There is no threshold."""
        return

    def decide(self, scores: Scores) -> Marks:
        """Mark the k best labels of every document."""
        marks = np.zeros(scores.shape, dtype=np.bool_)
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.k]
        np.put_along_axis(marks, best, True, axis=1)
        return marks & (scores > -np.inf)

    def state(self) -> State:
        """Settings only."""
        return State(self.kind, {"k": self.k})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal cut again."""
        return cls(state.settings["k"])
