"""Which labels are taken for which: the confusion matrix of one-label data, and confused pairs."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.evaluation.pairs import FN, FP, Pairs

LARGEST_MATRIX = 200
"""With more labels only the most frequent confusions are given, not the whole matrix."""
LISTED = 50
COUNTED = 200_000
"""Different pairs kept while counting; beyond it the rarest are forgotten."""


class Confusion:
    """Counts (true, taken for) pairs of labels.

    In multi-label data a missed label is said to be confused with every label wrongly assigned to
    the same document.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.is_one_label = True
        self._right = self._documents = 0
        self._first: Counter[int] = Counter()
        self._mistaken: Counter[int] = Counter()

    def add(self, scores: Scores, truth: Truth, pairs: Pairs) -> None:
        """Count one chunk."""
        self._count(self._mistaken, *_missed_and_wrong(pairs))
        counts = np.diff(truth.indptr)
        self.is_one_label = self.is_one_label and bool((counts == 1).all())
        if not self.is_one_label or not scores.shape[1]:
            self._first.clear()
            return
        best, true = scores.argmax(axis=1), truth.indices
        self._right += int((best == true).sum())
        self._documents += len(best)
        self._count(self._first, true.astype(np.int64), best)

    def matrix(self, names: list[str]) -> dict[str, Any] | None:
        """Accuracy and counts by true and best-ranked label, where every document has one label."""
        if not self.is_one_label or not self._documents:
            return None
        small = len(names) <= LARGEST_MATRIX
        table = np.zeros((len(names), self.n_labels) if small else (0, 0), np.int64)
        for key, count in self._first.items() if small else ():
            table[divmod(key, self._width)] = count
        return {
            "accuracy": self._right / self._documents,
            "labels": names if small else [],
            "matrix": table.tolist(),
            "most_confused": _listed(self._first, self._width, names),
        }

    def most_confused(self, names: list[str]) -> list[dict[str, Any]]:
        """The most frequent (missed, wrongly assigned) pairs of labels."""
        return _listed(self._mistaken, self._width, names)

    @property
    def _width(self) -> int:
        return max(self.n_labels, 1)

    def _count(
        self, counter: Counter[int], true: NDArray[np.int64], taken: NDArray[np.int64]
    ) -> None:
        keys, counts = np.unique(true * self._width + taken, return_counts=True)
        counter.update(dict(zip(keys.tolist(), counts.tolist(), strict=True)))
        if len(counter) > COUNTED:
            kept = dict(counter.most_common(COUNTED // 2))
            counter.clear()
            counter.update(kept)


def _missed_and_wrong(pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every (missed, wrongly assigned) pair of columns within a document."""
    missed, wrong = pairs.kind == FN, pairs.kind == FP
    documents = pairs.document[wrong]
    first = np.searchsorted(documents, pairs.document[missed], side="left")
    n = np.searchsorted(documents, pairs.document[missed], side="right") - first
    n[n > LISTED] = 0  # a document with very many wrong labels confuses nothing in particular
    offsets = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    taken = pairs.column[wrong][np.repeat(first, n) + offsets]
    return np.repeat(pairs.column[missed], n), taken


def _listed(counter: Counter[int], width: int, names: list[str]) -> list[dict[str, Any]]:
    found = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    pairs = [(*divmod(key, width), count) for key, count in found]
    wrong = [(true, taken, count) for true, taken, count in pairs if true != taken]
    return [
        {"label": names[true], "taken_for": names[taken], "documents": count}
        for true, taken, count in wrong[:LISTED]
    ]
