"""The labels above their cuts, best first, for one document, in plain numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.linear.answer_values import N_VALUES, Curves, write_values


class LabelValues:
    """The labels' cuts and probabilities: the values that an answer has beside a score."""

    def __init__(self, cuts: NDArray[np.float32], curves: Curves) -> None:
        self.cuts, self._curves = cuts, curves

    def rows(self, columns: NDArray[Any], scores: NDArray[np.float32]) -> list[list[float]]:
        """Each label's column, score, probability (NaN without a calibration) and cut."""
        rows = np.empty((len(columns), N_VALUES))
        write_values(columns, scores, self.cuts, self._curves, rows)
        values: list[list[float]] = rows.tolist()
        return values


def pick(scores: Any, cuts: Any, columns: Any, best: Any) -> int:
    """Write the best columns with score > cut to `columns`, their scores to `best`; how many pass.

    By falling score, ties by rising column; as many as `columns` is long.
    """
    passing = np.flatnonzero(scores > cuts)
    picked = passing[np.argsort(-scores[passing], kind="stable")][: len(columns)]
    columns[: len(picked)] = picked
    best[: len(picked)] = scores[picked]
    return len(passing)


def warm() -> None:
    """There is nothing to compile."""
