"""The labels above their cuts, best first, for one document, in plain numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.linear.answer_values import TOLD, Curves, fill_in


class LabelValues:
    """What is told about the labels of an answer: their cuts and probabilities."""

    def __init__(self, cuts: NDArray[np.float32], curves: Curves) -> None:
        self.cuts, self._curves = cuts, curves

    def rows(self, columns: NDArray[Any], scores: NDArray[np.float32]) -> list[list[float]]:
        """Each label's column, score, probability (NaN: there is none) and cut."""
        rows = np.empty((len(columns), TOLD))
        fill_in(columns, scores, self.cuts, self._curves, rows)
        found: list[list[float]] = rows.tolist()
        return found


def pick(scores: Any, cuts: Any, columns: Any, found: Any) -> int:
    """Put the best columns with `score > cut` into `columns`, their scores into `found`.

    By falling score, ties by rising column; as many as there is room for. Returns how many pass.
    """
    passing = np.flatnonzero(scores > cuts)
    best = passing[np.argsort(-scores[passing], kind="stable")][: len(columns)]
    columns[: len(best)] = best
    found[: len(best)] = scores[best]
    return len(passing)


def warm() -> None:
    """There is nothing to compile."""
