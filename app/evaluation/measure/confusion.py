"""Which labels are taken for which: the confusion matrix of one-label data, and confused pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.evaluation.measure.tally import Integers, Tally
from app.metrics.counting.pairs import FN, FP, Pairs
from app.metrics.counting.score_rows import ScoreRows

LARGEST_MATRIX = 200
"""With more labels only the most frequent confusions are given, not the whole matrix."""
LISTED = 50
COUNTED = 200_000
"""Different pairs kept while counting; beyond it the rarest are forgotten."""
PENDING = 200_000


class PairCounter:
    """Counts of (true, taken for), kept small: only the frequent ones are ever shown."""

    def __init__(self) -> None:
        self._keys = self._counts = np.zeros(0, np.int64)
        self._pending: list[NDArray[np.int64]] = []

    def add(self, keys: NDArray[np.int64]) -> None:
        """Count these pairs, each given as one number."""
        self._pending.append(keys)
        if sum(map(len, self._pending)) > PENDING:
            self.settle()

    def settle(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs by falling count, and their counts."""
        keys = np.concatenate([np.zeros(0, np.int64), *self._pending])
        return self.merge(keys, np.ones(len(keys), np.int64))

    def merge(
        self, keys: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same with these pairs, each counted so often, for those that wait."""
        keys, weights = np.append(self._keys, keys), np.append(self._counts, counts)
        unique, where = np.unique(keys, return_inverse=True)
        counts = np.bincount(where, weights=weights, minlength=len(unique)).astype(np.int64)
        order = np.argsort(-counts, kind="stable")
        order = order[: COUNTED // 2] if len(order) > COUNTED else order
        self._keys, self._counts, self._pending = unique[order], counts[order], []
        return self._keys, self._counts


class Confusion:
    """Counts (true, taken for) pairs of labels.

    In multi-label data a missed label is said to be confused with every label wrongly assigned to
    the same document.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.is_one_label = True
        self._right = self._documents = 0
        self._first, self._mistaken = PairCounter(), PairCounter()
        self._first_before, self._mistaken_before = PairCounter(), PairCounter()
        """Of the files before this one."""

    def add(self, scores: ScoreRows, truth: Truth, pairs: Pairs) -> None:
        """Count one chunk."""
        missed, wrong = _missed_and_wrong(pairs)
        self._mistaken.add(missed * self._width + wrong)
        counts = np.diff(truth.indptr)
        self.is_one_label = self.is_one_label and bool((counts == 1).all())
        if not self.is_one_label or not scores.n_columns:
            return
        best, true = scores.best(), truth.indices.astype(np.int64)
        self._right += int((best == true).sum())
        self._documents += len(best)
        self._first.add((true * self._width + best)[best >= 0])

    def end_part(self) -> None:
        """A file of the data ends: which rare pairs are forgotten is decided file by file."""
        for total, own in (
            (self._first_before, self._first),
            (self._mistaken_before, self._mistaken),
        ):
            total.merge(*own.settle())
        self._first, self._mistaken = PairCounter(), PairCounter()

    def tally(self) -> Tally:
        """What was counted of one file, to be added to another's counts."""
        (first, n_first), (mistaken, n_mistaken) = self._first.settle(), self._mistaken.settle()
        about = [int(self.is_one_label), self._right, self._documents]
        return {
            "about": np.array(about),
            "first": np.stack([first, n_first]),
            "mistaken": np.stack([mistaken, n_mistaken]),
        }

    def merge(self, tally: Tally, columns: Integers) -> None:
        """Add what was counted of a further file; `columns` are the places of its columns here."""
        is_one_label, right, documents = tally["about"].tolist()
        self.is_one_label = self.is_one_label and bool(is_one_label)
        self._right, self._documents = self._right + right, self._documents + documents
        for total, name in ((self._first_before, "first"), (self._mistaken_before, "mistaken")):
            true, taken = np.divmod(tally[name][0], self._width)
            total.merge(columns[true] * self._width + taken, tally[name][1])

    def matrix(self, names: list[str]) -> dict[str, Any] | None:
        """Accuracy and counts by true and best-ranked label, where every document has one label."""
        if not self.is_one_label or not self._documents:
            return None
        small = len(names) <= LARGEST_MATRIX
        table = np.zeros((len(names), self.n_labels) if small else (0, 0), np.int64)
        self.end_part()
        keys, counts = self._first_before.settle()
        if small:
            table[np.divmod(keys, self._width)] = counts
        return {
            "accuracy": self._right / self._documents,
            "labels": names if small else [],
            "matrix": table.tolist(),
            "most_confused": _listed(self._first_before, self._width, names),
        }

    def most_confused(self, names: list[str]) -> list[dict[str, Any]]:
        """The most frequent (missed, wrongly assigned) pairs of labels."""
        self.end_part()
        return _listed(self._mistaken_before, self._width, names)

    @property
    def _width(self) -> int:
        return max(self.n_labels, 1)


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


def _listed(counter: PairCounter, width: int, names: list[str]) -> list[dict[str, Any]]:
    keys, counts = counter.settle()
    true, taken = np.divmod(keys, width)
    wrong = np.flatnonzero(true != taken)[:LISTED]
    columns = (array[wrong].tolist() for array in (true, taken, counts))
    return [
        {"label": names[one], "taken_for": names[other], "documents": count}
        for one, other, count in zip(*columns, strict=True)
    ]
