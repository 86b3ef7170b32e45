"""ScoreGroups: each label's held-out scores as a hundred-odd groups, fine at the top of the list.

A curve through them is the curve through all documents for any practical purpose, and takes the
same small time whether there are a thousand documents or a million.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.heldout import Column, HeldOut

GROUPS = 160


@dataclass(frozen=True, slots=True)
class ScoreGroups:
    """Per label (row) and group (column): mean score, documents, and positives among them.

    Groups that a label does not fill have 0 documents.
    """

    scores: NDArray[np.float64]
    documents: NDArray[np.float64]
    marked: NDArray[np.float64]
    positives: NDArray[np.int64]

    @classmethod
    def of(cls, held_out: HeldOut) -> "ScoreGroups":
        """The groups of every label's scored documents."""
        shape = (held_out.n_labels, GROUPS)
        scores, documents, marked = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        positives = np.zeros(held_out.n_labels, np.int64)
        for label, column in enumerate(held_out.columns()):
            grouped = _grouped(column)
            n = len(grouped[0])
            scores[label, :n], documents[label, :n], marked[label, :n] = grouped
            positives[label] = int(column.marks.sum())
        return cls(scores, documents, marked, positives)

    def label(
        self, label: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """One label's filled groups by rising score: mean scores, documents, positives."""
        filled = np.flatnonzero(self.documents[label])[::-1]
        return self.scores[label, filled], self.documents[label, filled], self.marked[label, filled]


def _grouped(column: Column) -> tuple[NDArray[np.float64], ...]:
    """Mean scores, documents and positives by falling score; equal scores share a group."""
    falling = np.sort(column.scores)[::-1].astype(np.float64)
    if not len(falling):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    wanted = np.geomspace(1, len(falling), min(GROUPS, len(falling))).astype(np.int64) - 1
    # A group starts where its score is first seen, so that equal scores stay together.
    starts = np.unique(np.searchsorted(-falling, -falling[wanted]))
    documents = np.diff(starts, append=len(falling))
    right = np.sort(column.scores[column.marks]).astype(np.float64)
    above = len(right) - np.searchsorted(right, falling[starts], side="right")
    marked = np.diff(above, append=len(right))
    return np.add.reduceat(falling, starts) / documents, documents, marked
