"""The labels above their cuts, best first, for one document, compiled."""

from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from app.kernels.compiler import brief, inner, kernel
from app.kernels.linear.answer_values import NO_CURVES, TOLD, Curves, fill_in, probability, short
from app.kernels.linear.array_table import flat_told, told_forms
from app.kernels.linear.scoring import score_text

for _part in (probability, short):
    register_jitable(_part)
_fill_in = inner(fill_in)


class LabelValues:
    """What is told about the labels of an answer: their cuts and probabilities."""

    def __init__(self, cuts: NDArray[np.float32], curves: Curves) -> None:
        self._flat = flat_told(cuts, curves)
        self.numbers = self._flat.numbers

    def rows(self, columns: NDArray[Any], scores: NDArray[np.float32]) -> list[list[float]]:
        """Each label's column, score, probability (NaN: there is none) and cut."""
        rows = np.empty((len(columns), TOLD))
        tell(columns, scores, self.numbers, rows)
        found: list[list[float]] = rows.tolist()
        return found


@kernel
def pick_text(text: Any, numbers: Any, weights: Any, told: Any, rows: Any) -> int:
    """What is told about the best labels of one text; its scores are kept by nobody."""
    cuts, curves = told_forms(told)
    scores, found = np.empty(len(cuts), np.float32), np.empty(len(rows), np.float32)
    columns = np.empty(len(rows), np.int64)
    score_text(text, numbers, weights, scores)
    passing: int = pick(scores, cuts, columns, found)
    _fill_in(columns, found, cuts, curves, rows[:passing])
    return passing


@brief
def tell(columns: Any, scores: Any, told: Any, rows: Any) -> None:
    """What is told about some labels."""
    _fill_in(columns, scores, *told_forms(told), rows)


@brief
def pick(scores: Any, cuts: Any, columns: Any, found: Any) -> int:
    """Put the best columns with `score > cut` into `columns`, their scores into `found`.

    By falling score, ties by rising column; as many as there is room for. Returns how many pass.
    """
    room, kept, passing = len(columns), 0, 0
    for column in range(len(scores)):
        score = scores[column]
        if score > cuts[column]:
            passing += 1
            if kept == room:
                if score <= found[room - 1]:
                    continue
                kept -= 1
            at = kept
            while at > 0 and found[at - 1] < score:
                found[at] = found[at - 1]
                columns[at] = columns[at - 1]
                at -= 1
            found[at] = score
            columns[at] = column
            kept += 1
    return passing


def warm() -> None:
    """Compile everything here."""
    one, columns = np.zeros(1, np.float32), np.zeros(1, np.int64)
    pick(one, one - 1, columns, one)
    LabelValues(one, NO_CURVES).rows(columns, one)
