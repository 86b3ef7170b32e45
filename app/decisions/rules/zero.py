"""Zero: every label with a score above 0, the untuned reference."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from app.decisions.base import Basis, Use
from app.decisions.decision import Decision
from app.errors import InvalidRequestError


@dataclass(frozen=True, slots=True)
class Zero:
    """`zero`; refused where 0 is not neutral: no margin and no log-odds."""

    syntax: ClassVar[str] = "zero"
    examples: ClassVar[tuple[str, ...]] = ("zero",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING, Use.EVALUATION})
    is_tuned: ClassVar[bool] = False

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule, if it is named."""
        return cls() if name == cls.syntax else None

    @property
    def name(self) -> str:
        """As the user writes it."""
        return self.syntax

    def decision(self, basis: Basis) -> Decision:
        """One cut at 0 for all labels."""
        if basis.uncentred_learner is not None:
            raise InvalidRequestError(
                f"zero is no sensible cut for the learner {basis.uncentred_learner}: its scores "
                "are not neutral at 0; use a tuned decision or rank:K"
            )
        return Decision(np.zeros(basis.n_labels, np.float32), self.name)
