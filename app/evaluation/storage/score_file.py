"""All scores and true marks on disk, written by documents, read by labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.score_rows import ScoreRows
from app.metrics.counting.transpose import transposed

CELLS = 1_000_000


class ScoreFile:
    """Each chunk is stored label by label, so that some labels of a chunk are one short read."""

    def __init__(self, folder: Path, n_labels: int, dtype: Any = np.float32) -> None:
        self.n_labels = n_labels
        self.n_documents = 0
        self._sizes: list[int] = []
        self._scores = ArrayFile(folder / "scores", dtype)
        self._marks = ArrayFile(folder / "marks", np.uint8)

    @property
    def bytes_a_score(self) -> int:
        """Bytes on disk for each score, its mark apart."""
        return int(self.dtype.itemsize)

    @property
    def n_scores(self) -> int:
        """How many numbers are stored."""
        return self.n_documents * self.n_labels

    def append(self, rows: ScoreRows, truth: Truth) -> None:
        """Add a chunk; zero-shot columns of the truth are not kept."""
        scores = rows.array()
        marks = truth[:, : self.n_labels].toarray()
        self._scores.append(transposed(scores).ravel())
        self._marks.append(np.packbits(marks.T, axis=1).ravel())
        self._sizes.append(len(scores))
        self.n_documents += len(scores)

    def columns(self) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.bool_]]]:
        """For every label: its number, its scores and its marks over all documents."""
        block = max(1, CELLS // max(self.n_documents, 1))
        for first in range(0, self.n_labels, block):
            labels = slice(first, min(first + block, self.n_labels))
            scores, marks = self._block(labels)
            for i in range(labels.stop - first):
                yield first + i, scores[i], marks[i]

    def whole_columns(self) -> Iterator[NDArray[np.float32]]:
        """Every label's scores in the documents' order, -inf where there is none."""
        return (scores for _, scores, _ in self.columns())

    def rows(self) -> Iterator[Scores]:
        """The scores of the chunks again, as they were added."""
        documents = 0
        for size in self._sizes:
            scores = self._scores.read(documents * self.n_labels, size * self.n_labels)
            documents += size
            yield np.ascontiguousarray(scores.reshape(self.n_labels, size).T)

    def _block(self, labels: slice) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        n = labels.stop - labels.start
        scores = np.empty((n, self.n_documents), self._scores.dtype)
        marks: Marks = np.empty((n, self.n_documents), np.bool_)
        documents = bytes_before = 0
        for size in self._sizes:
            span, width = slice(documents, documents + size), (size + 7) // 8
            start = documents * self.n_labels + labels.start * size
            scores[:, span] = self._scores.read(start, n * size).reshape(n, size)
            packed = self._marks.read(bytes_before + labels.start * width, n * width)
            marks[:, span] = np.unpackbits(packed.reshape(n, width), axis=1, count=size)
            documents += size
            bytes_before += width * self.n_labels
        return scores, marks

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the scores."""
        return self._scores.dtype

    def close(self) -> None:
        """Close both files."""
        self._scores.close()
        self._marks.close()
