"""Scores on disk in little room: those of true documents, and bins of the others."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.rank_bins import RankBins, Values, rank_bins
from app.evaluation.storage.array_file import ArrayFile


class BinnedScores:
    """Sets of columns: each set is what a full score file held, and binned on its own.

    A bin is a share of the documents above it in its own set, so that the share over all sets is
    no larger, however many there are.
    """

    def __init__(self, folder: Path, n_labels: int, dtype: Any) -> None:
        self.n_labels = n_labels
        self._true = ArrayFile(folder / "true-scores", dtype)
        self._bins = RankFiles(folder, dtype)
        self._sets: list[NDArray[np.int64]] = []
        """(labels + 1, 2) each: where a label's true scores and bins begin."""

    def add(self, columns: Iterable[tuple[int, Values, NDArray[np.bool_]]]) -> None:
        """Bin every label's scores; documents without a score are left out."""
        starts = np.zeros((self.n_labels + 1, 2), np.int64)
        starts[0] = self._true.length, self._bins.length
        for label, scores, marks in columns:
            is_scored = scores > -np.inf
            self._true.append(scores[marks & is_scored])
            self._bins.append(rank_bins(scores[~marks & is_scored]))
            starts[label + 1] = self._true.length, self._bins.length
        self._sets.append(starts)

    def columns(self) -> Iterator[tuple[Values, RankBins]]:
        """Every label's true scores and bins of others, of all sets."""
        for label in range(self.n_labels):
            spans = [(one[label].tolist(), one[label + 1].tolist()) for one in self._sets]
            true = [self._true.read(start[0], end[0] - start[0]) for start, end in spans]
            bins = [self._bins.read(start[1], end[1] - start[1]) for start, end in spans]
            yield np.concatenate(true), RankBins(*map(np.concatenate, zip(*bins, strict=True)))

    def close(self) -> None:
        """Close the files."""
        self._true.close()
        self._bins.close()


class RankFiles:
    """Bins on disk, an array file for each of their fields."""

    def __init__(self, folder: Path, dtype: Any) -> None:
        self._files = (
            ArrayFile(folder / "bins-low", dtype),
            ArrayFile(folder / "bins-high", dtype),
            ArrayFile(folder / "bins-size", np.int64),
        )

    @property
    def length(self) -> int:
        """How many bins there are."""
        return self._files[0].length

    def append(self, bins: RankBins) -> None:
        """Add bins at the end."""
        low, high, size = self._files
        low.append(bins.low)
        high.append(bins.high)
        size.append(bins.size)

    def read(self, start: int, count: int) -> RankBins:
        """`count` bins from `start` on."""
        return RankBins(*(file.read(start, count) for file in self._files))

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
