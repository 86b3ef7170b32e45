"""Hulls: per label, every cut that can be best for some F_β, with what it assigns rightly and not.

A label's cuts are points (FP, TP). Every maximum of F_β, micro or macro, is a vertex of the labels'
upper convex hulls, because a linear-fractional function has its maximum at a vertex. So the hulls
answer every operating point exactly, in a few kilobytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.heldout import Column, HeldOut
from app.state import State


class Points(NamedTuple):
    """One label's cuts by falling threshold: wrong and right assignments above each."""

    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    cuts: NDArray[np.float32]


MOST_POINTS = 256
"""Longer lists of cuts are thinned to so many: neighbouring cuts then differ by next to nothing."""

NEVER = Points(np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([np.inf], np.float32))
"""The only cut of a label that has no scored positive document."""


@dataclass(frozen=True, slots=True)
class Hulls:
    """The hull vertices of all labels end to end; label l's are `offsets[l]:offsets[l + 1]`.

    Within a label the first vertex assigns nothing, and cuts fall from there.
    """

    offsets: NDArray[np.int64]
    fp: NDArray[np.int32]
    tp: NDArray[np.int32]
    cuts: NDArray[np.float32]
    positives: NDArray[np.int32]
    n_documents: int
    is_exact: bool = True

    @classmethod
    def of(cls, held_out: HeldOut) -> Self:
        """The hulls of held-out scores."""
        columns = list(_measured(held_out.columns()))
        offsets = np.cumsum([0, *(len(points.fp) for points, _ in columns)])
        return cls(
            offsets.astype(np.int64),
            np.concatenate([NEVER.fp[:0], *(p.fp for p, _ in columns)]).astype(np.int32),
            np.concatenate([NEVER.tp[:0], *(p.tp for p, _ in columns)]).astype(np.int32),
            np.concatenate([NEVER.cuts[:0], *(p.cuts for p, _ in columns)]),
            np.array([positives for _, positives in columns], np.int32),
            held_out.n_documents,
            held_out.is_exact,
        )

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.positives)

    @property
    def n_positives(self) -> int:
        """How many pairs of document and label are true."""
        return int(self.positives.sum())

    @property
    def label_of_vertex(self) -> NDArray[np.int64]:
        """Which label each vertex belongs to."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.offsets))

    def highest(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Each label's vertex of the highest value; the highest cut among equals."""
        starts = self.offsets[:-1]
        if not len(starts):
            return starts
        is_best = values == np.maximum.reduceat(values, starts)[self.label_of_vertex]
        best = np.flatnonzero(is_best)
        return best[np.searchsorted(best, starts)]

    def state(self) -> State:
        """Five arrays."""
        settings = {"n_documents": self.n_documents, "is_exact": self.is_exact}
        names = ("offsets", "fp", "tp", "cuts", "positives")
        return State("hulls", settings, {name: getattr(self, name) for name in names})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build equal hulls again."""
        settings: dict[str, Any] = {**state.settings, **state.arrays}
        return cls(**settings)


def points(column: Column) -> Points:
    """Every cut just below a positive document, by falling threshold; the first assigns nothing.

    A best cut is always one of these: going down past documents that are all negative only adds
    wrong assignments. Cuts lie midway between neighbouring scores, or just beyond the end.
    """
    right = np.sort(column.scores[column.marks])
    if not len(right):
        return NEVER
    wrong = np.sort(column.scores[~column.marks])
    above = np.unique(right)[::-1]
    first_right = np.searchsorted(right, above)
    first_wrong = np.searchsorted(wrong, above)
    below = np.maximum(before(right, first_right), before(wrong, first_wrong))
    return Points(
        np.append(0, len(wrong) - first_wrong),
        np.append(0, len(right) - first_right),
        np.append(above_highest(column), midway(below, above)),
    )


def above_highest(column: Column) -> np.float32:
    """The cut that assigns nothing: just above the highest score.

    Infinite where that score is shared: the fitted model may give the same documents a little more,
    and the label would be handed to all of them.
    """
    is_shared, highest = shares_highest(column)
    return np.float32(np.inf if is_shared else beside(highest, np.inf))


def shares_highest(column: Column) -> tuple[bool, np.float32]:
    """Whether more documents have the highest score than carry the label; and that score.

    It is then what a model says of documents that it knows nothing about.
    """
    highest = column.scores.max(initial=np.float32(-np.inf))
    return bool(np.count_nonzero(column.scores == highest) > column.positives), highest


def thinned(candidates: Points) -> Points:
    """The same cuts, or where there are very many an even choice of them."""
    n = len(candidates.tp)
    if n <= MOST_POINTS:
        return candidates
    kept = np.linspace(0, n - 1, MOST_POINTS).astype(np.int64)
    return Points(candidates.fp[kept], candidates.tp[kept], candidates.cuts[kept])


def midway(below: NDArray[np.float32], above: NDArray[np.float32]) -> NDArray[np.float32]:
    """The float32 cuts that part neighbouring scores under `score > cut`.

    Where the midpoint rounds to the upper score the cut is the lower one; with nothing below
    (-inf) it is the next number below the upper score.

    >>> midway(np.float32([1, -np.inf]), np.float32([2, 0])).tolist()
    [1.5, -1.401298464324817e-45]
    """
    with np.errstate(invalid="ignore"):
        middle = ((below.astype(np.float64) + above) / 2).astype(np.float32)
    cuts = np.where(middle >= above, below, middle)
    return np.where(below == -np.inf, beside(above, -np.inf), cuts)


def beside(scores: Any, towards: float) -> Any:
    """The next float32 numbers on that side."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(scores, np.float32(towards))


def upper_hull(points: Points) -> Points:
    """The points that no line between two others passes above or through."""
    fp, tp = points.fp.tolist(), points.tp.tolist()
    kept: list[int] = []
    for i in range(len(fp)):
        while kept and fp[kept[-1]] == fp[i]:
            kept.pop()
        while len(kept) > 1 and _is_below(fp, tp, (kept[-2], kept[-1], i)):
            kept.pop()
        kept.append(i)
    if fp[kept[0]] == 0 and kept[0] != 0:
        kept.insert(0, 0)
    return Points(points.fp[kept], points.tp[kept], points.cuts[kept])


def _is_below(fp: list[int], tp: list[int], three: tuple[int, int, int]) -> bool:
    a, b, c = three
    return (tp[b] - tp[a]) * (fp[c] - fp[a]) <= (tp[c] - tp[a]) * (fp[b] - fp[a])


def before(ascending: NDArray[np.float32], positions: NDArray[np.int64]) -> NDArray[np.float32]:
    """The numbers before those positions; -inf before the first."""
    return np.append(np.float32(-np.inf), ascending)[positions]


def _measured(columns: Iterable[Column]) -> Iterable[tuple[Points, int]]:
    return ((upper_hull(points(column)), column.positives) for column in columns)
