"""Rank cut (Rcut): every document gets its k best labels."""

from dataclasses import dataclass
from typing import ClassVar, Self

from app.decisions.base import Basis, Rule
from app.decisions.decision import Decision
from app.errors import InvalidRequestError

PREFIX = "rank:"


@dataclass(frozen=True, slots=True)
class RankCut(Rule):
    """`rank:K`: the first K labels by falling score, ties by rising number; unscored ones never."""

    k: int
    syntax: ClassVar[str] = "rank:K"
    examples: ClassVar[tuple[str, ...]] = ("rank:1", "rank:3", "rank:1000")

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule of `rank:3`; a name with a comma is another's."""
        if not name.startswith(PREFIX) or "," in name:
            return None
        k = positive_number(name.removeprefix(PREFIX))
        if k is None:
            raise InvalidRequestError("rank:K needs a whole number K of at least 1, as in rank:3")
        return cls(k)

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"{PREFIX}{self.k}"

    def decision(self, basis: Basis) -> Decision:
        """A bound, and no cut."""
        return Decision(None, self.name, self.k)


def positive_number(text: str) -> int | None:
    """The whole number of at least 1 that the text spells in digits; None for any other text.

    >>> positive_number("12"), positive_number("0"), positive_number("²")
    (12, None, None)
    """
    is_number = text.isascii() and text.isdigit() and int(text) >= 1
    return int(text) if is_number else None
