"""Algorithm 1 of Pillai et al. (2013), literally: the reference for `micro_f.py`'s short cut.

Thresholds start below every score. Label after label, each moves up to the place of the highest
micro-F_β given the others, until a whole sweep over the labels changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import beside, midway
from app.heldout import Column, HeldOut


class Thresholds(NamedTuple):
    """One label's thresholds, rising: what is assigned at each. The last assigns nothing."""

    tp: NDArray[np.int64]
    assigned: NDArray[np.int64]
    cuts: NDArray[np.float32]

    @classmethod
    def of(cls, column: Column) -> "Thresholds":
        """A threshold below each distinct score, and one above all."""
        scores, places = np.unique(column.scores, return_inverse=True)
        right = np.bincount(places, weights=column.marks, minlength=len(scores)).astype(np.int64)
        every = np.bincount(places, minlength=len(scores))
        if not len(scores):
            return cls(right, every, scores).with_none(np.float32(np.inf))
        below = np.append(np.float32(-np.inf), scores[:-1])
        cuts = midway(below, scores)
        from_here = cls(_from_here(right), _from_here(every), cuts)
        return from_here.with_none(beside(scores[-1], np.inf))

    def with_none(self, cut: np.float32) -> "Thresholds":
        """The same, and a threshold that assigns nothing."""
        return Thresholds(
            np.append(self.tp, 0), np.append(self.assigned, 0), np.append(self.cuts, cut)
        )


@dataclass(frozen=True, slots=True)
class Sweep:
    """The state after one `repeat-until` loop."""

    value: float
    """Micro-F_β on the scores that were given."""
    cuts: NDArray[np.float32]
    n_tried: int
    """Thresholds that were tried so far: the `for` loops of the paper."""


def sweeps(held_out: HeldOut, order: Sequence[int] | None = None, beta: float = 1.0) -> list[Sweep]:
    """Every sweep, the last of which changed nothing; labels by number, or in the given order."""
    search = _Search([Thresholds.of(column) for column in held_out.columns()], held_out, beta)
    order = range(held_out.n_labels) if order is None else order
    done: list[Sweep] = []
    is_updated = True
    while is_updated:
        n_moved = sum(search.move_up(label) for label in order)
        is_updated = n_moved > 0
        done.append(Sweep(search.value, search.cuts(), search.n_tried))
    return done


class _Search:
    """Where every label's threshold stands, and the pairs assigned by all of them."""

    def __init__(self, labels: list[Thresholds], held_out: HeldOut, beta: float) -> None:
        self.labels, self.places, self.n_tried = labels, [0] * len(labels), 0
        self.beta2, self.positives = beta**2, int(held_out.truth.nnz)
        self.tp = sum(int(label.tp[0]) for label in labels)
        self.assigned = sum(int(label.assigned[0]) for label in labels)

    @property
    def value(self) -> float:
        """Micro-F_β; 0 without a pair."""
        return float(self._values(np.array([self.tp]), np.array([self.assigned]))[0])

    def move_up(self, label: int) -> bool:
        """Move one threshold to its best place at or above where it is; whether that was better."""
        own, place = self.labels[label], self.places[label]
        tp = self.tp - own.tp[place] + own.tp[place:]
        assigned = self.assigned - own.assigned[place] + own.assigned[place:]
        values = self._values(tp, assigned)
        self.n_tried += len(values)
        best = len(values) - 1 - int(np.argmax(values[::-1]))  # the highest threshold among equals
        if values[best] <= values[0]:
            return False
        self.places[label], self.tp, self.assigned = (
            place + best,
            int(tp[best]),
            int(assigned[best]),
        )
        return True

    def cuts(self) -> NDArray[np.float32]:
        pairs = zip(self.labels, self.places, strict=True)
        return np.array([label.cuts[place] for label, place in pairs], np.float32)

    def _values(self, tp: NDArray[np.int64], assigned: NDArray[np.int64]) -> NDArray[np.float64]:
        bottom = np.maximum(assigned + self.beta2 * self.positives, 1e-300)
        return np.asarray((1 + self.beta2) * tp / bottom)


def _from_here(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of every place and all after it."""
    return np.cumsum(counts[::-1])[::-1]
