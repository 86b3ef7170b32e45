"""ScoreStore: all scores on disk while they fit the bound, bins of them beyond it."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.evaluation.measure.break_even_bounds import bounded_break_even
from app.evaluation.measure.columns import (
    ColumnFigures,
    ErrorBounds,
    add_zero_shot,
    column_figures,
    hull_of,
    stacked_hulls,
)
from app.evaluation.measure.rank_bins import ranked_between
from app.evaluation.storage.array_file import room_for
from app.evaluation.storage.binned_scores import BinnedScores
from app.evaluation.storage.pair_score_file import PairScoreFile
from app.evaluation.storage.score_file import ScoreFile
from app.metrics.base import LabelMetric, label_metrics
from app.metrics.counting.ranked_positives import RankedPositives
from app.metrics.counting.score_rows import ScoredPairs, ScoreRows

MOST_DOCUMENTS = 4_000_000
"""Beyond it one label's column would no longer be small."""

MARGIN = 4_000_000
"""Scores of a chunk or run that may come on top before a file is seen to be full."""


class ScoreStore:
    """Keeps what figures over all scores of a label need."""

    def __init__(self, folder: Path, n_labels: int, max_scores: int) -> None:
        self.folder, self.n_labels, self.max_scores = folder, n_labels, max_scores
        self._file: ScoreFile | PairScoreFile | None = None
        self._binned: BinnedScores | None = None
        self._documents = 0

    @property
    def file(self) -> ScoreFile | PairScoreFile | None:
        """All scores; None where they were too many."""
        return None if self._binned else self._file

    def add(self, rows: ScoreRows, truth: Truth) -> None:
        """Keep one chunk."""
        file = self._file = self._file or self._opened(rows)
        file.append(rows, truth)
        self._documents += rows.n_documents
        if file.n_scores > self._most(file) or file.n_documents > MOST_DOCUMENTS:
            self._bin(file)

    def figures(self, support: NDArray[np.int64]) -> tuple[ColumnFigures, ErrorBounds | None]:
        """What needs all scores, and how far it may be off: None where it is exact.

        `support` has every column's true pairs, zero-shot ones last.
        """
        if self._binned is None:
            assert self._file is not None  # noqa: S101 - there is a document
            return column_figures(self._file.columns(), support, self._documents), None
        if self._file is not None:
            self._bin(self._file)
        return self._bounded_figures(self._binned, support)

    def close(self) -> None:
        """Close the files."""
        for file in (self._file, self._binned):
            if file is not None:
                file.close()

    def _opened(self, rows: ScoreRows) -> ScoreFile | PairScoreFile:
        """A file in the form of its first rows; either form takes rows of the other."""
        if isinstance(rows, ScoredPairs):
            return PairScoreFile(self.folder, self.n_labels, rows.dtype)
        return ScoreFile(self.folder, self.n_labels, rows.dtype)

    def _most(self, file: ScoreFile | PairScoreFile) -> int:
        """How many scores are kept: together they take no more than one file may have."""
        return min(self.max_scores, room_for(file.bytes_a_score) - MARGIN)

    def _bin(self, file: ScoreFile | PairScoreFile) -> None:
        """Turn what the file holds into bins; the next file begins empty."""
        if self._binned is None:
            self._binned = BinnedScores(self.folder, self.n_labels, file.dtype)
        self._binned.add(file.columns())
        file.close()
        self._file = None

    def _bounded_figures(
        self, binned: BinnedScores, support: NDArray[np.int64]
    ) -> tuple[ColumnFigures, ErrorBounds]:
        labels: dict[str, list[float | None]] = {name: [] for name in label_metrics()}
        errors = dict.fromkeys(labels, 0.0)
        attained, best = [], []
        known = support[: self.n_labels].tolist()
        for (true, others), positives in zip(binned.columns(), known, strict=True):
            between = ranked_between(true, others, positives)
            best.append(hull_of(between[0]))
            attained.append(hull_of(between[1]))
            for name, metric in label_metrics().items():
                value, width = _middle(metric, between)
                labels[name].append(value)
                errors[name] = max(errors[name], width)
        add_zero_shot(labels, support[self.n_labels :])
        hulls, bound = (stacked_hulls(one, support, self._documents) for one in (attained, best))
        gain = micro_f(bound, micro_f_vertices(bound)) - micro_f(hulls, micro_f_vertices(hulls))
        point, off = bounded_break_even(binned.columns, int(support.sum()))
        return ColumnFigures(labels, point, hulls), ErrorBounds(errors, gain, off)


def _middle(
    metric: LabelMetric, between: tuple[RankedPositives, RankedPositives]
) -> tuple[float | None, float]:
    """The middle of a metric's values at both ends, and half their distance."""
    one, other = (metric.value(ranked) for ranked in between)
    if one is None or other is None:
        return None, 0.0
    return (one + other) / 2, abs(one - other) / 2
