"""Abstention: per label a band of scores in which the model neither assigns nor denies the label.

The reject option of Pillai et al. (2013, section 6): what would be assigned, but is not sure enough
for the precision that was asked for, is handed to a person instead.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.decisions.decision import Decision
from app.decisions.tuning.hulls import points
from app.errors import InvalidRequestError
from app.heldout import Column, HeldOut
from app.state import State


@dataclass(frozen=True, slots=True)
class Abstention:
    """Bands `lower < score <= upper`; a label that is sure enough everywhere has an empty one."""

    target: float
    lower: NDArray[np.float32]
    upper: NDArray[np.float32]

    @classmethod
    def fit(cls, held_out: HeldOut, decision: Decision, target: float) -> Self:
        """The smallest bands above the cuts that leave every label the target precision.

        Where no cut reaches it on held-out data the band has no upper end: the label is never
        assigned.
        """
        cuts = decision.cuts
        if cuts is None or decision.most_labels is not None:
            raise InvalidRequestError("to abstain takes a decision by cuts alone, not by rank")
        if not 0 < target <= 1:
            raise InvalidRequestError("the precision to abstain for is above 0 and at most 1")
        pairs = zip(held_out.columns(), cuts, strict=True)
        upper = [_upper(column, cut, target) for column, cut in pairs]
        return cls(target, cuts, np.array(upper, np.float32))

    def raised(self, decision: Decision) -> Decision:
        """The decision with its cuts at the bands' upper ends: what is assigned without doubt."""
        cuts = decision.cuts_of(len(self.upper))
        return replace(decision, cuts=np.maximum(cuts, self.upper))

    def abstained(self, scores: Scores) -> Marks:
        """Mark where the model abstains."""
        return (scores > self.lower) & (scores <= self.upper)

    def state(self) -> State:
        """The target and two arrays; only arrays called cuts may be infinite in an artifact."""
        arrays = {"lower_cuts": self.lower, "upper_cuts": self.upper}
        return State("abstention", {"target": self.target}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build equal bands again."""
        arrays = state.arrays
        return cls(state.settings["target"], arrays["lower_cuts"], arrays["upper_cuts"])


def _upper(column: Column, cut: np.float32, target: float) -> np.float32:
    above = column.scores > cut
    if not above.any() or column.marks[above].sum() >= target * above.sum():
        return cut
    fp, tp, cuts = points(column)
    sure = np.flatnonzero((tp > 0) & (tp >= target * (tp + fp)) & (cuts >= cut))
    return cuts[sure[-1]] if len(sure) else np.float32(np.inf)
