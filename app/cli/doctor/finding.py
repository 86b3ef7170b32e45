"""Finding: what a check saw, whether that is well, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `mend` says what to do where `state` is not good.

    A `note` is nothing that must be mended: an extra that is not installed, a store without models.
    """

    check: str
    state: State
    found: str
    mend: str = ""
