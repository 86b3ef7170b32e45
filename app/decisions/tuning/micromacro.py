"""micromacro: cuts for micro-F1 plus macro-F1, label by label (Lin & Lin 2023, LibMultiLabel).

Labels are taken by falling frequency. Each gets the cut that is best for micro-F1 of the labels cut
so far, plus its own F1 shared among them. The published way cuts in three parts of the documents
and averages the three cuts; the pooled way cuts once, which is steadier (docs/decisions.md).
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Points, beside, points
from app.heldout import Column, HeldOut

PARTS = 3


class _Totals:
    """True positives, and 2·TP + FP + FN, of the labels that are cut already."""

    def __init__(self) -> None:
        self.tp = self.denominator = 0
        self.n_labels = 0

    def best(self, candidates: Points, positives: int) -> int:
        """The place in `candidates` of the best sum; the highest cut among equals; 0/0 is 0."""
        own = candidates.tp + candidates.fp + positives
        micro = 2 * (candidates.tp + self.tp) / np.maximum(own + self.denominator, 1)
        macro = 2 * candidates.tp / np.maximum(own, 1)
        return int(np.argmax(micro + macro / (self.n_labels + 1)))

    def add(self, counts: Iterable[tuple[int, int]]) -> None:
        """Count one more label: (TP, 2·TP + FP + FN) of each of its parts."""
        for tp, denominator in counts:
            self.tp += tp
            self.denominator += denominator
        self.n_labels += 1


def micromacro_cuts(held_out: HeldOut, seed: int) -> NDArray[np.float32]:
    """The published procedure on held-out scores: three parts a label, their cuts averaged."""
    random = np.random.default_rng(seed)

    def parts(column: Column) -> list[Column]:
        order = random.permutation(len(column.scores))
        return [_part(column, rows) for rows in np.array_split(order, PARTS) if len(rows)]

    return _cuts(held_out, parts)


def micromacro_pooled_cuts(held_out: HeldOut) -> NDArray[np.float32]:
    """The same objective, cut once on all held-out scores."""
    return _cuts(held_out, lambda column: [column])


def _cuts(held_out: HeldOut, parts: Callable[[Column], list[Column]]) -> NDArray[np.float32]:
    frequency = np.diff(held_out.truth.indptr)
    cuts = np.full(held_out.n_labels, np.inf, np.float32)
    totals = _Totals()
    for label in np.argsort(-frequency, kind="stable"):
        column = held_out.column(int(label))
        if column.marks.any():
            cuts[label] = _cut(parts(column), totals)
    return cuts


def _cut(parts: list[Column], totals: _Totals) -> float:
    found, counts = [], []
    for part in parts:
        candidates = points(part)
        place = totals.best(candidates, part.positives)
        tp, fp = int(candidates.tp[place]), int(candidates.fp[place])
        counts.append((tp, tp + fp + part.positives))
        found.append(_finite(candidates.cuts[place], part))
    totals.add(counts)
    return float(np.mean(found))


def _part(column: Column, rows: NDArray[np.int64]) -> Column:
    marks = column.marks[rows]
    return Column(
        column.scores[rows],
        marks,
        int(marks.sum()),
        column.documents[rows],
        np.ones(len(marks), np.bool_),
    )


def _finite(cut: np.float32, part: Column) -> float:
    """A part without a positive is cut just above its scores, so that an average still exists."""
    return float(min(cut, beside(part.scores.max(), np.inf)))
