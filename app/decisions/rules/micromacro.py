"""micromacro: cuts for micro-F1 plus macro-F1, as published (Lin & Lin 2023)."""

from dataclasses import dataclass
from typing import ClassVar

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.micromacro import micromacro_cuts


@dataclass(frozen=True, slots=True)
class Micromacro(Rule):
    """`micromacro`: the mean of the cuts in three parts of the documents."""

    syntax: ClassVar[str] = "micromacro"
    examples: ClassVar[tuple[str, ...]] = ("micromacro",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """The published procedure on the held-out scores."""
        held_out, _, options = basis.tuned_on()
        return Decision(micromacro_cuts(held_out, options.seed), self.name)
