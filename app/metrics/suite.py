"""suite: every metric of arrays that are in memory, for notebooks, tests and benchmarks.

Evaluations of files go through app/evaluation, which does the same chunk by chunk.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.metrics.average_precision import average_precision, standing
from app.metrics.averages import Averaging
from app.metrics.break_even import TopScores, break_even
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import FN, FP, TP, Pairs
from app.metrics.counting.records import ranking_records
from app.metrics.counting.transpose import transposed
from app.metrics.decision_figures import decision_figures
from app.metrics.ranking import TrueRanks

CELLS = 1_000_000


def suite(
    scores: Scores,
    truth: Truth,
    marks: Marks,
    *,
    ks: tuple[int, ...] = (1, 3, 5),
    averaging: Averaging | None = None,
    inverse: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """`ranking`, `decisions` and per-label `average_precision` of dense scores and decisions.

    `inverse` are inverse propensities, one more than there are labels; without them the
    propensity-scored figures are None.
    """
    n, m = scores.shape
    values = DocumentValues(ks, m, averaging or Averaging(), inverse is not None)
    sums, counts = np.zeros(len(values.names)), LabelCounts(m)
    size = max(1, CELLS // max(m, 1))
    for start in range(0, n, size):
        rows = slice(start, start + size)
        pairs = Pairs.of(marks[rows], truth[rows])
        records = ranking_records(TrueRanks.of(scores[rows], truth[rows]), ks, inverse)
        for name, kind in (("tp", TP), ("fp", FP), ("fn", FN)):
            records[name] = pairs.counts(kind, len(records))
        counts.add(len(records), *(pairs.columns(kind) for kind in (TP, FP, FN)))
        sums += values.matrix(records).sum(axis=0)
    decisions = decision_figures(
        counts.cells(m), values.samples(sums), values.subset_accuracy(sums), values.averaging
    )
    precisions, point = _by_label(scores, truth)
    return {
        "ranking": values.ranking(sums),
        "decisions": {**decisions, "break_even": point},
        "average_precision": precisions,
    }


def _by_label(scores: Scores, truth: Truth) -> tuple[list[float | None], dict[str, float]]:
    top = TopScores(int(truth.nnz))
    precisions: list[float | None] = []
    right: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    for column, marks in _columns(scores, truth):
        top.add(column)
        right.append(column[marks])
        precisions.append(average_precision(standing(column, marks)))
    return precisions, break_even(top, np.concatenate(right))._asdict()


def _columns(
    scores: Scores, truth: Truth
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
    """Every label's scores and marks, contiguous; transposed a block of labels at a time."""
    by_label = truth.tocsc()
    size = max(64, CELLS // max(len(scores), 1))
    for start in range(0, scores.shape[1], size):
        block = transposed(scores[:, start : start + size])
        for label, column in enumerate(block, start=start):
            marks = np.zeros(len(column), np.bool_)
            marks[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
            yield column, marks
