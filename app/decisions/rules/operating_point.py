"""Operating points: cuts for a wanted precision, recall or F_β, by the held-out scores."""

from dataclasses import dataclass
from typing import ClassVar, Self

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.operating_points import ACCEPTED, Wanted
from app.errors import InvalidRequestError


@dataclass(frozen=True, slots=True)
class OperatingPointRule(Rule):
    """`precision>=0.9`, `macro:f2` …: answered by the hulls that are stored with a model."""

    wanted: Wanted
    syntax: ClassVar[str] = ACCEPTED
    examples: ClassVar[tuple[str, ...]] = (
        "f1",
        "macro:f2",
        "precision>=0.5",
        "macro:recall>=0.5",
        "each:precision>=0.5",
    )
    uses: ClassVar[frozenset[Use]] = frozenset(
        {Use.EVALUATION, Use.PREDICTION, Use.FILE_PREDICTION}
    )

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule of that point."""
        wanted = Wanted.read(name)
        return None if wanted is None else cls(wanted)

    @property
    def name(self) -> str:
        """The one spelling of it."""
        return self.wanted.name

    def decision(self, basis: Basis) -> Decision:
        """The cuts of the point, with the precision and recall to expect there."""
        if basis.operating_points is None:
            raise InvalidRequestError(
                "this model was not tuned on held-out scores, so it has no operating points; "
                "accepted: tuned"
            )
        return basis.operating_points.find(self.name, nearest=basis.takes_nearest)
