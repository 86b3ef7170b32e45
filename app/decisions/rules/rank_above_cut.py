"""Rank cut above a score: every document gets its k best labels, as far as they pass one cut."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from app.decisions.base import Basis, Rule
from app.decisions.decision import Decision
from app.decisions.rules.rank_cut import PREFIX, positive_number
from app.errors import InvalidRequestError

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class RankAboveCut(Rule):
    """`rank:K,CUT`: at most K labels, each with a score above CUT."""

    k: int
    cut: float
    syntax: ClassVar[str] = "rank:K,CUT"
    examples: ClassVar[tuple[str, ...]] = ("rank:1,0", "rank:2,0.5", "rank:3,-1", "rank:1000,0.75")

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule of `rank:3,0.5`.

        >>> RankAboveCut.read("rank:3,.50").name
        'rank:3,0.5'
        """
        argument, comma, above = name.removeprefix(PREFIX).partition(",")
        if not name.startswith(PREFIX) or not comma:
            return None
        k, cut = positive_number(argument), _score(above)
        if k is None or cut is None:
            raise InvalidRequestError(
                "rank:K,CUT needs a whole number K of at least 1 and a number CUT that a score "
                "can be, as in rank:3,0.5"
            )
        return cls(k, cut)

    @property
    def name(self) -> str:
        """The one spelling of it."""
        return f"{PREFIX}{self.k},{self.cut:.12g}"

    def decision(self, basis: Basis) -> Decision:
        """A bound, and the same cut for all labels."""
        return Decision(np.full(basis.n_labels, self.cut, np.float32), self.name, self.k)


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if -LARGEST <= score <= LARGEST else None
