"""Expectations: the precision and recall that cuts reach on new documents, and how surely.

They are estimated in training (estimate.py) and read wherever an operating point is asked for.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.state import State

PRICES = np.concatenate([[0.01, 0.02], np.arange(0.05, 1, 0.05), [0.98]])
"""Where micro-averaged figures are known. A price is the share of right ones that a step of a cut
must have to pay, see app/decisions/tuning/micro_f.py."""
BETAS = np.geomspace(0.03, 10, 18)
"""Where macro-averaged figures are known: each label at its own best F_β."""
LEAST_PRICE = 0.02
"""Macro points take no step of which less than this share is right: a label with hardly a positive
would otherwise be handed to hundreds of documents for the sake of one."""
AVERAGES = ("micro", "macro")


class Correction(NamedTuple):
    """What to add to the figures on held-out scores, and standard deviations of a test's figures.

    One number for every place: prices for micro, β for macro averages.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    precision_deviation: NDArray[np.float64]
    recall_deviation: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expectations:
    """Corrections of micro-averaged figures by price, and of macro-averaged ones by β."""

    micro: Correction
    macro: Correction

    def at(self, average: str, places: NDArray[np.float64]) -> Correction:
        """The correction at any prices or β, between the known ones by a straight line."""
        if average == "micro":
            return Correction(*(np.interp(places, PRICES, known) for known in self.micro))
        logs = np.log(np.maximum(places, BETAS[0]))
        return Correction(*(np.interp(logs, np.log(BETAS), known) for known in self.macro))

    def state(self) -> State:
        """Eight arrays."""
        arrays = {
            f"{average}_{name}": getattr(getattr(self, average), name)
            for average in AVERAGES
            for name in Correction._fields
        }
        return State("expectations", {}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal one again."""
        corrections = (
            Correction(*(state.arrays[f"{average}_{name}"] for name in Correction._fields))
            for average in AVERAGES
        )
        return cls(*corrections)
