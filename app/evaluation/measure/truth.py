"""The truth of a chunk as a matrix, and what was found in the file's label sets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth, truth_from_rows
from app.labels import LabelIndex


@dataclass
class TruthReader:
    """Label names → columns; labels that the model never saw come after its own, if kept."""

    labels: LabelIndex
    keep_zero_shot: bool = False
    old_names: Mapping[str, str] = field(default_factory=dict)
    """Labels that became others since they were trained; "" for one that is never answered."""
    hidden_pairs: int = 0
    """Pairs of such labels: they are left out."""
    pairs: int = 0
    unlabelled: int = 0
    zero_shot: Counter[str] = field(default_factory=Counter)
    columns: dict[str, int] = field(default_factory=dict)
    """Of zero-shot labels, as they were met, whether they are counted or not."""

    @property
    def n_columns(self) -> int:
        """Columns counted so far: the trained labels, and zero-shot ones where they are kept."""
        return len(self.labels) + len(self._counted)

    @property
    def order(self) -> list[int]:
        """Columns as reports list them: the trained labels, then zero-shot ones by name."""
        first = len(self.labels)
        return [*range(first), *(self.columns[name] for name in sorted(self._counted))]

    @property
    def names(self) -> list[str]:
        """The name of every column counted, zero-shot ones as they were met."""
        return [*self.labels.names, *self._counted]

    @property
    def _counted(self) -> Mapping[str, int]:
        return self.columns if self.keep_zero_shot else {}

    def read(self, label_sets: Sequence[Sequence[str]]) -> tuple[Truth, Truth]:
        """The truth of these documents, and the zero-shot labels that it leaves out."""
        rows = [self._columns(self._renamed(set(labels))) for labels in label_sets]
        self.unlabelled += sum(not labels for labels in label_sets)
        truth = truth_from_rows([counted for counted, _ in rows], self.n_columns)
        return truth, truth_from_rows([dropped for _, dropped in rows], self._width)

    def found(self) -> dict[str, Any]:
        """What was found in the label sets, to be added to another's findings."""
        counts = [self.hidden_pairs, self.pairs, self.unlabelled]
        return {"counts": counts, "zero_shot": self.zero_shot, "columns": list(self.columns)}

    def merge(self, found: dict[str, Any]) -> NDArray[np.int64]:
        """Add what was found in further documents; where each of their columns stands here."""
        hidden_pairs, pairs, unlabelled = found["counts"]
        self.hidden_pairs += hidden_pairs
        self.pairs += pairs
        self.unlabelled += unlabelled
        self.zero_shot.update(found["zero_shot"])
        first = len(self.labels)
        own = [self.columns.setdefault(u, first + len(self.columns)) for u in found["columns"]]
        return np.array([*range(first), *own], np.int64)

    @property
    def _width(self) -> int:
        return len(self.labels) + len(self.columns)

    def _renamed(self, labels: set[str]) -> set[str]:
        old = self.old_names
        if not old or labels.isdisjoint(old):
            return labels
        renamed = [old.get(label, label) for label in labels]
        self.hidden_pairs += renamed.count("")
        return set(renamed) - {""}

    def _columns(self, labels: set[str]) -> tuple[list[int], list[int]]:
        """The columns that are counted, and those that are not."""
        known = self.labels.columns
        found = [known[label] for label in labels if label in known]
        self.pairs += len(found)
        if len(found) == len(labels):
            return found, []
        unknown = sorted(label for label in labels if label not in known)
        self.zero_shot.update(unknown)
        first = len(known)
        columns = [self.columns.setdefault(u, first + len(self.columns)) for u in unknown]
        return (found + columns, []) if self.keep_zero_shot else (found, columns)
