"""The labels above their cuts, best first, for one document, compiled."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import array_table
from app.kernels.compiler import callable_by_kernels, inner, kernel, kernel_with_gil
from app.kernels.intrinsics import table_reader
from app.kernels.linear.answer_values import (
    N_VALUES,
    NO_CURVES,
    Curves,
    probability,
    short,
    write_values,
)
from app.kernels.linear.text_to_scores import score_text

for _function in (probability, short):
    callable_by_kernels(_function)
_write_values = inner(write_values)


class LabelTable(NamedTuple):
    """What the kernels that answer are given as an array table."""

    cuts: NDArray[np.float32]
    curves: Curves


label_table = table_reader(LabelTable)


class LabelValues:
    """The labels' cuts and probabilities: the values that an answer has beside a score."""

    def __init__(self, cuts: NDArray[np.float32], curves: Curves) -> None:
        self._table, self.cuts = array_table(LabelTable(cuts, curves)), cuts
        self.table = self._table.numbers

    def rows(self, columns: NDArray[Any], scores: NDArray[np.float32]) -> list[list[float]]:
        """Each label's column, score, probability (NaN without a calibration) and cut."""
        rows = np.empty((len(columns), N_VALUES))
        answer_values(columns, scores, self.table, rows)
        values: list[list[float]] = rows.tolist()
        return values


@kernel
def pick_text(text: Any, texts: Any, weights: Any, labels: Any, rows: Any) -> int:
    """Score a text and write the values of its best labels; how many labels pass their cuts.

    `texts`, `weights` and `labels` are array tables. As many labels as there are rows are written;
    the scores of the others are not kept.
    """
    cuts, curves = label_table(labels)
    scores, best = np.empty(len(cuts), np.float32), np.empty(len(rows), np.float32)
    columns = np.empty(len(rows), np.int64)
    score_text(text, texts, weights, scores)
    n_passing: int = pick(scores, cuts, columns, best)
    _write_values(columns, best, cuts, curves, rows[:n_passing])
    return n_passing


@kernel_with_gil
def answer_values(columns: Any, scores: Any, labels: Any, rows: Any) -> None:
    """Write the values of some labels and their scores, a row each."""
    cuts, curves = label_table(labels)
    _write_values(columns, scores, cuts, curves, rows)


@kernel_with_gil
def pick(scores: Any, cuts: Any, columns: Any, best: Any) -> int:
    """Write the best columns with score > cut to `columns`, their scores to `best`; how many pass.

    By falling score, ties by rising column; as many as `columns` is long.
    """
    k, n_kept, n_passing = len(columns), 0, 0
    for column in range(len(scores)):
        score = scores[column]
        if score > cuts[column]:
            n_passing += 1
            if n_kept == k:
                if score <= best[k - 1]:
                    continue
                n_kept -= 1
            rank = n_kept
            while rank > 0 and best[rank - 1] < score:  # not <=: equal scores keep their order
                best[rank] = best[rank - 1]
                columns[rank] = columns[rank - 1]
                rank -= 1
            best[rank] = score
            columns[rank] = column
            n_kept += 1
    return n_passing


def warm() -> None:
    """Compile everything here that is called by itself; text_scorer.py compiles `pick_text`."""
    one, columns = np.zeros(1, np.float32), np.zeros(1, np.int64)
    pick(one, one - 1, columns, one)
    LabelValues(one, NO_CURVES).rows(columns, one)
