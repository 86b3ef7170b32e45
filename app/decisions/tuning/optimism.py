"""Optimism: how much better cuts look on the scores they were tuned on than on others.

Cuts are tuned on one random half of the documents and counted on both halves; the mean difference
is what the counts of tuned cuts are too good by. (A cut wins or loses about as many documents by
chance whatever their number, so the difference needs no scaling.) A price is the share of right
ones that a step of a cut must have to pay, see app/decisions/tuning/micro_f.py.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Points, points, thinned
from app.heldout import HeldOut
from app.state import State

PRICES = np.concatenate([[0.002, 0.005, 0.01, 0.02], np.arange(0.05, 1, 0.05), [0.98, 0.99]])
HALVINGS = 20


class Excess(NamedTuple):
    """What is counted too much, price by price."""

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Optimism:
    """Right and wrong assignments that tuned cuts have too many (or too few) by price."""

    prices: NDArray[np.float64]
    tp: NDArray[np.float64]
    fp: NDArray[np.float64]

    @classmethod
    def of(cls, held_out: HeldOut, seed: int = 0) -> Self:
        """The optimism of all labels' cuts together."""
        random = np.random.default_rng(seed)
        tp, fp = np.zeros(len(PRICES)), np.zeros(len(PRICES))
        for column in held_out.columns():
            if column.marks.any():
                excess = _excess(thinned(points(column)), random)
                tp, fp = tp + excess.tp, fp + excess.fp
        return cls(PRICES.copy(), tp, fp)

    def at(self, prices: NDArray[np.float64]) -> Excess:
        """The optimism at any prices, between the known ones by a straight line."""
        return Excess(
            np.interp(prices, self.prices, self.tp), np.interp(prices, self.prices, self.fp)
        )

    def state(self) -> State:
        """Three arrays."""
        return State("optimism", {}, {name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal one again."""
        return cls(**state.arrays)


def _excess(candidates: Points, random: np.random.Generator) -> Excess:
    shape = (HALVINGS, len(candidates.tp) - 1)
    tp, fp = np.zeros((HALVINGS, shape[1] + 1)), np.zeros((HALVINGS, shape[1] + 1))
    np.cumsum(random.binomial(np.diff(candidates.tp), 0.5, shape), axis=1, out=tp[:, 1:])
    np.cumsum(random.binomial(np.diff(candidates.fp), 0.5, shape), axis=1, out=fp[:, 1:])
    rows = np.arange(HALVINGS)
    excess = Excess(np.zeros(len(PRICES)), np.zeros(len(PRICES)))
    for i, price in enumerate(PRICES):
        best = np.argmax(tp - price * (tp + fp), axis=1)
        excess.tp[i] = (2 * tp[rows, best] - candidates.tp[best]).mean()
        excess.fp[i] = (2 * fp[rows, best] - candidates.fp[best]).mean()
    return excess
