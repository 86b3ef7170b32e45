"""micromacro-pooled: cuts for micro-F1 plus macro-F1, from all held-out scores at once."""

from dataclasses import dataclass
from typing import ClassVar

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.micromacro import micromacro_pooled_cuts


@dataclass(frozen=True, slots=True)
class MicromacroPooled(Rule):
    """`micromacro-pooled`: the sum of micromacro, without its three parts."""

    syntax: ClassVar[str] = "micromacro-pooled"
    examples: ClassVar[tuple[str, ...]] = ("micromacro-pooled",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """One cut a label on all held-out scores."""
        held_out, _, _ = basis.tuned_on()
        return Decision(micromacro_pooled_cuts(held_out), self.name)
