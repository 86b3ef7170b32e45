"""ScoreStore: all scores on disk while they fit the bound, histograms beyond it."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.evaluation.measure.columns import (
    ColumnFigures,
    ErrorBounds,
    add_zero_shot,
    column_figures,
    hull_of,
    stacked_hulls,
)
from app.evaluation.measure.pooled_histogram import PooledHistogram
from app.evaluation.measure.score_histograms import LabelHistograms
from app.evaluation.storage.score_file import ScoreFile
from app.metrics import label_metrics
from app.metrics.base import LabelMetric

MOST_DOCUMENTS = 4_000_000
"""Beyond it one label's column would no longer be small."""


class ScoreStore:
    """Keeps what figures over all scores of a label need."""

    def __init__(self, folder: Path, n_labels: int, max_cells: int) -> None:
        self.n_labels, self.max_cells = n_labels, max_cells
        self.file: ScoreFile | None = ScoreFile(folder, n_labels)
        self._labels = LabelHistograms(0)
        self._pooled = PooledHistogram()
        self._pairs = self._documents = 0

    @property
    def is_exact(self) -> bool:
        """Whether all scores are still there."""
        return self.file is not None

    def add(self, scores: Scores, truth: Truth) -> None:
        """Keep one chunk."""
        self._documents += len(scores)
        cells = self._documents * self.n_labels
        if self.file is None:
            self._labels.add(scores, truth)
            self._pooled.add(scores, truth)
            return
        self._pairs += truth.nnz
        self.file.append(scores, truth)
        if cells > self.max_cells or self._documents > MOST_DOCUMENTS:
            self._switch_to_histograms(self.file)

    def figures(self, support: NDArray[np.int64]) -> tuple[ColumnFigures, ErrorBounds | None]:
        """What needs all scores, and how far it may be off: None where it is exact.

        `support` has every column's true pairs, zero-shot ones last.
        """
        if self.file:
            return column_figures(self.file.columns(), support, self._documents), None
        labels, errors = self._label_figures(support)
        every = range(self.n_labels)
        attained = [hull_of(self._labels.at_edges(label)) for label in every]
        best = [hull_of(self._labels.best_case(label)) for label in every]
        hulls, bound = (stacked_hulls(one, support, self._documents) for one in (attained, best))
        gain = micro_f(bound, micro_f_vertices(bound)) - micro_f(hulls, micro_f_vertices(hulls))
        point, off = self._pooled.break_even(int(support.sum()))
        return ColumnFigures(labels, point, hulls), ErrorBounds(errors, gain, off)

    def close(self) -> None:
        """Close the file, if it is still there."""
        if self.file is not None:
            self.file.close()

    def _label_figures(
        self, support: NDArray[np.int64]
    ) -> tuple[dict[str, list[float | None]], dict[str, float]]:
        """The label metrics from the histograms, and how far those that have bounds may be off."""
        labels: dict[str, list[float | None]] = {}
        errors: dict[str, float] = {}
        for name, metric in label_metrics().items():
            figures = [self._approximated(metric, label) for label in range(self.n_labels)]
            labels[name] = [value for value, _ in figures]
            if metric.bounds is not None:
                errors[name] = max((width for _, width in figures), default=0.0)
        add_zero_shot(labels, support[self.n_labels :])
        return labels, errors

    def _approximated(self, metric: LabelMetric, label: int) -> tuple[float | None, float]:
        """A label's metric from its histogram, and half the width of its bounds."""
        bins = self._labels.bins(label)
        if metric.bounds is None or not bins.positives:
            return metric.value(self._labels.at_edges(label)), 0.0
        lower, upper = metric.bounds(bins)
        return (lower + upper) / 2, (upper - lower) / 2

    def _switch_to_histograms(self, file: ScoreFile) -> None:
        """Turn what is on disk into histograms."""
        self._labels = LabelHistograms(self.n_labels)
        self._labels.begin(file.columns())
        self._pooled.begin(file.columns(), max(self._pairs, 1))
        for chunk, marks in file.rows():
            self._pooled.add(chunk, marks)
        file.close()
        self.file = None
