"""Scores on disk in little room: those of true documents, and bins of the others."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.rank_bins import RankBins, Values, rank_bins
from app.evaluation.storage.array_file import ArrayFile

LABELS = 256
"""Labels that are written or read together."""


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
        sizes = np.zeros((self.n_labels + 1, 2), np.int64)
        sizes[0] = self._true.length, self._bins.length
        # One column is binned after the other: many of them at once could take any memory.
        binned = ((label, *_binned(scores, marks)) for label, scores, marks in columns)
        while block := list(islice(binned, LABELS)):
            for label, true, bins in block:
                sizes[label + 1] = len(true), len(bins.size)
            self._true.append(np.concatenate([true for _, true, _ in block]))
            self._bins.append(_joined([bins for _, _, bins in block]))
        self._sets.append(np.cumsum(sizes, axis=0))

    def columns(self) -> Iterator[tuple[Values, RankBins]]:
        """Every label's true scores and bins of others, of all sets."""
        for first in range(0, self.n_labels, LABELS):
            labels = range(first, min(first + LABELS, self.n_labels))
            blocks = [self._block(starts[first : labels.stop + 1]) for starts in self._sets]
            for own in zip(*blocks, strict=True):
                yield np.concatenate([true for true, _ in own]), _joined([bins for _, bins in own])

    def _block(self, starts: NDArray[np.int64]) -> Iterator[tuple[Values, RankBins]]:
        """The labels of one set that begin there, read together."""
        first, size = starts[0].tolist(), (starts[-1] - starts[0]).tolist()
        true, bins = self._true.read(first[0], size[0]), self._bins.read(first[1], size[1])
        for start, end in pairwise((starts - starts[0]).tolist()):
            own = slice(start[1], end[1])
            yield true[start[0] : end[0]], RankBins(bins.low[own], bins.high[own], bins.size[own])

    def close(self) -> None:
        """Close the files."""
        self._true.close()
        self._bins.close()


def _binned(scores: Values, marks: NDArray[np.bool_]) -> tuple[Values, RankBins]:
    is_scored = scores > -np.inf
    return scores[marks & is_scored], rank_bins(scores[~marks & is_scored])


def _joined(parts: Sequence[RankBins]) -> RankBins:
    return RankBins(*(np.concatenate(field) for field in zip(*parts, strict=True)))


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
