"""ScoreStore: all scores on disk while they fit the bound, histograms beyond it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.decisions.tuning.hulls import NEVER
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.evaluation.measure.columns import ColumnFigures, column_figures, hull_of, joined
from app.evaluation.measure.pooled_histogram import PooledHistogram
from app.evaluation.measure.score_histograms import LabelHistograms
from app.evaluation.storage.score_file import ScoreFile

MOST_DOCUMENTS = 4_000_000
"""Beyond it one label's column would no longer be small."""


@dataclass(frozen=True)
class Error:
    """How far approximated figures may be off; None where they are exact."""

    average_precision: float
    micro_f1: float
    break_even: float


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
            self._give_up(self.file)

    def figures(self, support: NDArray[np.int64]) -> tuple[ColumnFigures, Error | None]:
        """What needs all scores; `support` has every column's true pairs, zero-shot ones last."""
        if self.file:
            return column_figures(self.file.columns(), support, self._documents), None
        every, missed = range(self.n_labels), [NEVER] * (len(support) - self.n_labels)
        bounds = [self._labels.average_precision(label) for label in every]
        found = [hull_of(self._labels.standing(label)) for label in every]
        flattered = [hull_of(self._labels.flattered(label)) for label in every]
        hulls = joined([*found, *missed], support, self._documents)
        best = joined([*flattered, *missed], support, self._documents)
        widths = [(one.upper - one.lower) / 2 for one in bounds if one]
        gain = micro_f(best, micro_f_vertices(best)) - micro_f(hulls, micro_f_vertices(hulls))
        point, off = self._pooled.break_even(int(support.sum()))
        middles = [one.middle if one else None for one in bounds]
        return ColumnFigures(middles, point, hulls), Error(max(widths, default=0.0), gain, off)

    def close(self) -> None:
        """Close the file, if it is still there."""
        if self.file is not None:
            self.file.close()

    def _give_up(self, file: ScoreFile) -> None:
        """Turn what is on disk into histograms."""
        self._labels = LabelHistograms(self.n_labels)
        self._labels.begin(file.columns())
        self._pooled.begin(file.columns(), max(self._pairs, 1))
        for chunk, marks in file.rows():
            self._pooled.add(chunk, marks)
        file.close()
        self.file = None
