"""suite: every metric of arrays that are in memory, for notebooks, tests and benchmarks.

Evaluations of files go through app/evaluation, which does the same chunk by chunk.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.metrics import label_metrics
from app.metrics.break_even import TopScores, break_even
from app.metrics.counting.cells import Averaging
from app.metrics.counting.decision_figures import decision_figures
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.ranked_positives import ranked_positives
from app.metrics.counting.transpose import transposed
from app.metrics.counting.true_ranks import TrueRanks

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
    """`ranking`, `decisions` and each label metric of dense scores and decisions.

    `inverse` are inverse propensities, one more than there are labels; without them the
    propensity-scored figures are None.
    """
    n, m = scores.shape
    values = DocumentValues(ks, averaging or Averaging(), inverse is not None)
    sums, counts = np.zeros(values.width), LabelCounts(m)
    size = max(1, CELLS // max(m, 1))
    for start in range(0, n, size):
        rows = slice(start, start + size)
        pairs = Pairs.of(marks[rows], truth[rows])
        counts.add(len(marks[rows]), pairs)
        ranked = TrueRanks.of(scores[rows], truth[rows], inverse)
        sums += values.matrix(ranked, pairs.cells(len(marks[rows]), m)).sum(axis=0)
    by_label, point = _by_label(scores, truth)
    return {
        "ranking": values.ranking(sums),
        "decisions": {**decision_figures(counts.cells(m), values, sums), "break_even": point},
        **by_label,
    }


def _by_label(
    scores: Scores, truth: Truth
) -> tuple[dict[str, list[float | None]], dict[str, float]]:
    """The label metrics of every label, and the break-even point of all scores."""
    top, metrics = TopScores(int(truth.nnz)), label_metrics()
    figures: dict[str, list[float | None]] = {name: [] for name in metrics}
    true_scores: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    for column, marks in _columns(scores, truth):
        top.add(column)
        true_scores.append(column[marks])
        ranked = ranked_positives(column, marks)
        for name, metric in metrics.items():
            figures[name].append(metric.value(ranked))
    return figures, break_even(top, np.concatenate(true_scores))._asdict()


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
