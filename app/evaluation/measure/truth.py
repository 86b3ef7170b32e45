"""The truth of a chunk as a matrix, and what was found in the file's label sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth, truth_from_rows
from app.labels import LabelIndex


@dataclass
class TruthReader:
    """Label names → columns; labels that the model never saw come after its own, if kept."""

    labels: LabelIndex
    keep_zero_shot: bool = False
    pairs: int = 0
    unlabelled: int = 0
    zero_shot: Counter[str] = field(default_factory=Counter)
    columns: dict[str, int] = field(default_factory=dict)

    @property
    def n_columns(self) -> int:
        """Columns counted so far: the trained labels, and zero-shot ones where they are kept."""
        return len(self.labels) + len(self.columns)

    @property
    def order(self) -> list[int]:
        """Columns as reports list them: the trained labels, then zero-shot ones by name."""
        first = len(self.labels)
        return [*range(first), *(self.columns[name] for name in sorted(self.columns))]

    @property
    def names(self) -> list[str]:
        """The name of every column counted, zero-shot ones as they were met."""
        return [*self.labels.names, *self.columns]

    def read(self, label_sets: Sequence[Sequence[str]]) -> tuple[Truth, NDArray[np.int64]]:
        """The truth of these documents, and how many labels of each it leaves out."""
        unique = [set(labels) for labels in label_sets]
        rows = [self._columns(labels) for labels in unique]
        self.unlabelled += sum(not labels for labels in label_sets)
        pairs = zip(unique, rows, strict=True)
        dropped = np.array([len(labels) - len(row) for labels, row in pairs], np.int64)
        return truth_from_rows(rows, self.n_columns), dropped

    def _columns(self, labels: set[str]) -> list[int]:
        known = self.labels.columns
        found = [known[label] for label in labels if label in known]
        self.pairs += len(found)
        if len(found) == len(labels):
            return found
        unknown = sorted(label for label in labels if label not in known)
        self.zero_shot.update(unknown)
        if self.keep_zero_shot:
            first = len(known)
            found += [self.columns.setdefault(u, first + len(self.columns)) for u in unknown]
        return found
