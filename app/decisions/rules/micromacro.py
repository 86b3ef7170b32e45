"""micromacro: cuts for micro-F1 plus macro-F1, as published (Lin & Lin 2023)."""

from dataclasses import dataclass
from typing import ClassVar, Self

from app.decisions.base import Basis, Use
from app.decisions.decision import Decision
from app.decisions.tuning.micromacro import micromacro_cuts


@dataclass(frozen=True, slots=True)
class Micromacro:
    """`micromacro`: the mean of the cuts in three parts of the documents."""

    syntax: ClassVar[str] = "micromacro"
    examples: ClassVar[tuple[str, ...]] = ("micromacro",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule, if it is named."""
        return cls() if name == cls.syntax else None

    @property
    def name(self) -> str:
        """As the user writes it."""
        return self.syntax

    def decision(self, basis: Basis) -> Decision:
        """The published procedure on the held-out scores."""
        held_out, _, options = basis.tuned_on()
        return Decision(micromacro_cuts(held_out, options.seed), self.name)
