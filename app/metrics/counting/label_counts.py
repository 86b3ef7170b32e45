"""TP, FP and FN of every label, added up chunk by chunk."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from app.metrics.counting.cells import Cells
from app.metrics.counting.pairs import FN, FP, TP, Pairs

Integers = NDArray[np.int64]


class LabelCounts:
    """Counts over some documents; zero-shot labels can only be missed, so a count is enough."""

    def __init__(self, n_labels: int) -> None:
        self.documents = 0
        self.tp = np.zeros(n_labels, np.int64)
        self.fp = np.zeros(n_labels, np.int64)
        self.fn = np.zeros(n_labels, np.int64)
        self.zero_shot: Counter[int] = Counter()

    def add(self, n_documents: int, pairs: Pairs) -> None:
        """Add the pairs of that many further documents."""
        n = len(self.tp)
        tp, fp, fn = (pairs.column[pairs.kind == kind] for kind in (TP, FP, FN))
        self.documents += n_documents
        self.tp += np.bincount(tp, minlength=n)
        self.fp += np.bincount(fp, minlength=n)
        self.fn += np.bincount(fn[fn < n], minlength=n)
        self.zero_shot.update(fn[fn >= n].tolist())

    def tally(self) -> dict[str, Integers]:
        """What was counted, to be added to another's counts."""
        zero_shot = np.array(sorted(self.zero_shot.items()), np.int64).reshape(-1, 2)
        counts = np.stack([self.tp, self.fp, self.fn])
        return {"documents": np.array([self.documents]), "counts": counts, "zero_shot": zero_shot}

    def merge(self, tally: dict[str, Integers], columns: Integers) -> None:
        """Add the counts of other documents; `columns` are the places of their columns here."""
        self.documents += int(tally["documents"][0])
        for own, others in zip((self.tp, self.fp, self.fn), tally["counts"], strict=True):
            own += others
        for column, count in tally["zero_shot"].tolist():
            self.zero_shot[int(columns[column])] += count

    def cells(self, n_columns: int) -> Cells:
        """A contingency table a column: the labels that were trained, then the zero-shot ones."""
        n = len(self.tp)
        extra = np.array([self.zero_shot[i] for i in range(n, n_columns)], np.int64)
        none = np.zeros(len(extra), np.int64)
        tp, fp = np.append(self.tp, none), np.append(self.fp, none)
        fn = np.append(self.fn, extra)
        return Cells(tp, fp, fn, self.documents - tp - fp - fn)
