"""Zero: every label with a score above 0, the untuned reference."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from app.decisions.base import Basis, Rule
from app.decisions.decision import Decision
from app.errors import InvalidRequestError


@dataclass(frozen=True, slots=True)
class Zero(Rule):
    """`zero`; refused for learners whose scores are neither margins nor log-odds."""

    syntax: ClassVar[str] = "zero"
    examples: ClassVar[tuple[str, ...]] = ("zero",)

    def decision(self, basis: Basis) -> Decision:
        """One cut at 0 for all labels."""
        if basis.uncentred_learner is not None:
            raise InvalidRequestError(
                f"zero is no sensible cut for the learner {basis.uncentred_learner}: its scores "
                "are not neutral at 0; use a tuned decision or rank:K"
            )
        return Decision(np.zeros(basis.n_labels, np.float32), self.name)
