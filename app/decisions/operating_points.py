"""Operating points: the cuts with the best recall at a wanted precision, or the other way round.

Algorithm 3 of Pillai et al. (2013) looks for the β whose cuts just meet the constraint. Here all
points of all β lie ready on a path (see decisions/tuning/pr_curve.py), so it is one search in it.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from app.decisions.decision import Decision, Expected
from app.decisions.expectation.expectations import Expectations
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import Steps
from app.decisions.tuning.pr_curve import Path
from app.errors import InvalidRequestError, UnattainableError

ACCEPTED = (
    "precision>=P, recall>=R (0 < P, R <= 1), f1, f0.5 or f2, each optionally after macro:, "
    "or each:precision>=P"
)
BOUND = r"([01]|[01]?\.\d{1,12})"
WANTED = re.compile(rf"(macro:|)(?:(precision|recall)>={BOUND}|f(1|0\.5|2))")
EACH_WANTED = re.compile(rf"each:precision>={BOUND}")
MORE_WRONG = 2
"""Wrong assignments that a label's own precision is charged with, beyond those seen: its cut was
chosen for being precise (docs/decisions.md)."""
CACHED = 64
LUCK = {"micro": 1.0, "macro": 3.0}
"""Deviations by which the best of all points must clear a bound. Macro averages rest on labels with
few documents, and those of high precision on the fewest."""
Z90 = 1.645
"""Standard deviations on either side that hold nine of ten values."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An operating point's name, read: a bound on precision or recall, or a β."""

    average: str
    measure: str
    value: float

    @classmethod
    def read(cls, name: str) -> "Wanted | None":
        """`precision>=0.9`, `macro:f2` … read; None where the name is no operating point's."""
        match, each = WANTED.fullmatch(name), EACH_WANTED.fullmatch(name)
        if each is not None:
            wanted = cls("each", "precision", float(each[1]))
        elif match is not None:
            average = "macro" if match[1] else "micro"
            wanted = cls(average, match[2] or "f", float(match[3] or match[4]))
        else:
            return None
        if wanted.measure != "f" and not 0 < wanted.value <= 1:
            raise InvalidRequestError(f"a bound is above 0 and at most 1; accepted: {ACCEPTED}")
        return wanted

    @property
    def name(self) -> str:
        """The one spelling of it."""
        prefix = "" if self.average == "micro" else f"{self.average}:"
        middle = "f" if self.measure == "f" else f"{self.measure}>="
        return f"{prefix}{middle}{self.value:.12g}"


class OperatingPoints:
    """Answers operating points from hulls; the last few are kept, any thread may ask."""

    def __init__(self, hulls: Hulls, expectations: Expectations | None = None) -> None:
        self._hulls, self._expectations = hulls, expectations
        self._paths: dict[str, Path] = {}
        self._found: OrderedDict[tuple[str, bool], Decision] = OrderedDict()
        self._lock = Lock()

    def find(self, name: str, *, nearest: bool = False) -> Decision:
        """The cuts of that point, and the precision and recall to expect there.

        Where no cuts are expected to meet the bound: `UnattainableError` with the best there is, or
        with `nearest` that best point, which says that it does not meet it. What is sent is not
        echoed in any error.
        """
        wanted = Wanted.read(name)
        if wanted is None:
            raise InvalidRequestError(f"no such operating point; accepted: {ACCEPTED}")
        with self._lock:
            key = wanted.name, nearest
            found = self._found.pop(key, None) or self._compute(wanted, nearest)
            self._found[key] = found
            if len(self._found) > CACHED:
                self._found.popitem(last=False)
            return found

    def curve(self, average: str, most: int = 100) -> list[Expected]:
        """What to expect along the best points of that average, by rising recall, thinned."""
        with self._lock:
            path = self._path(average)
        if not len(path.taken):
            return []
        wanted = np.linspace(path.recall[0], path.recall[-1], most)
        return [
            expected_at(path, place) for place in np.unique(np.searchsorted(path.recall, wanted))
        ]

    def around(self, precision: float, recall: float) -> Expected:
        """What to expect of micro figures seen on held-out scores, of cuts chosen there."""
        with self._lock:
            path = self._path("micro")
        place = _place_of(path, recall)
        if place is None or path.deviations is None:
            return Expected(precision, recall)
        gain = path.expected_precision[place] - path.precision[place]
        recall += path.expected_recall[place] - path.recall[place]
        return _with_intervals(path, place, precision + gain, recall)

    def _compute(self, wanted: Wanted, nearest: bool) -> Decision:
        if wanted.average == "each":
            return self._each(wanted, nearest)
        path = self._path(wanted.average)
        if wanted.measure == "f":
            return self._best_f(path, wanted)
        place, is_met = _place(path, wanted)
        if place is None or not (is_met or nearest):
            raise UnattainableError(wanted.name, _best(path, place, wanted))
        expected = expected_at(path, place)
        if nearest:
            expected = expected._replace(met=is_met)
        return Decision(self._cuts(path, place), wanted.name, expected=expected)

    def _best_f(self, path: Path, wanted: Wanted) -> Decision:
        """The cuts of the highest F_β: macro, of the path's points each label's own best."""
        if wanted.average == "macro":
            place = int(np.searchsorted(path.places, wanted.value)) - 1
        else:
            place = Steps.of(self._hulls).best(wanted.value) - 1
        expected = expected_at(path, place) if place >= 0 else Expected(0.0, 0.0)
        return Decision(self._cuts(path, place), wanted.name, expected=expected)

    def _cuts(self, path: Path, place: int) -> NDArray[np.float32]:
        """The cuts of a point of the path; before the first nothing is assigned.

        A label of which no step is taken is never assigned, not even at a score above all that were
        seen: what pays nowhere below is not worth more there.
        """
        if place < 0:
            return np.full(self._hulls.n_labels, np.inf, np.float32)
        vertices = path.vertices(self._hulls, place)
        is_first = vertices == self._hulls.offsets[:-1]
        return np.where(is_first, np.float32(np.inf), self._hulls.cuts[vertices])

    def _each(self, wanted: Wanted, nearest: bool) -> Decision:
        """Every label at the lowest cut where its own precision is high enough, or never."""
        hulls, starts = self._hulls, self._hulls.offsets[:-1]
        tp, charged = hulls.tp, hulls.tp + hulls.fp + MORE_WRONG
        passing = np.flatnonzero(tp >= (wanted.value - 1e-12) * charged)
        vertices = starts.copy()
        vertices[hulls.label_of_vertex[passing]] = passing  # of several the last: the lowest cut
        is_reached = vertices > starts
        if not is_reached.any():
            best = float((tp / charged).max(initial=0.0))
            raise UnattainableError(wanted.name, {"precision": best})
        right, path = int(tp[vertices].sum()), self._path("micro")
        precision, recall = right / charged[vertices][is_reached].sum(), right / hulls.n_positives
        place = _place_of(path, recall) or 0
        recall += path.expected_recall[place] - path.recall[place]
        expected = _with_intervals(path, place, precision, recall)
        if nearest:
            expected = expected._replace(met=bool(is_reached.all()))
        cuts = np.where(is_reached, hulls.cuts[vertices], np.float32(np.inf))
        unreached = np.flatnonzero(~is_reached)
        return Decision(cuts, wanted.name, expected=expected, unreached=unreached)

    def _path(self, average: str) -> Path:
        if average not in self._paths:
            make = Path.macro if average == "macro" else Path.micro
            self._paths[average] = make(self._hulls, self._expectations)
        return self._paths[average]


def expected_at(path: Path, place: int) -> Expected:
    """What is expected at a point, with 90 % intervals where deviations are known."""
    return _with_intervals(path, place, path.expected_precision[place], path.expected_recall[place])


def _with_intervals(path: Path, place: int, precision: float, recall: float) -> Expected:
    """Figures with the intervals of that point of the path."""
    figures = [min(max(float(figure), 0.0), 1.0) for figure in (precision, recall)]
    if path.deviations is None:
        return Expected(figures[0], figures[1])
    intervals = [
        (float(max(figure - Z90 * own[place], 0)), float(min(figure + Z90 * own[place], 1)))
        for figure, own in zip(figures, path.deviations, strict=True)
    ]
    return Expected(figures[0], figures[1], intervals[0], intervals[1])


def _place_of(path: Path, recall: float) -> int | None:
    """The point of that recall on held-out scores, or the next; None where there is no point."""
    place = int(np.searchsorted(path.recall, recall))
    return min(place, len(path.taken) - 1) if len(path.taken) else None


def _place(path: Path, wanted: Wanted) -> tuple[int | None, bool]:
    """The point that is expected to meet the bound and is best at the other measure, and True.

    Where none does for sure, the point that comes nearest, and False; None where there is no point
    at all. Fewest steps among equals. Sums of shares carry rounding in their last digits, hence the
    hair's breadth.
    """
    if not len(path.taken):
        return None, False
    sure = _sure(path, wanted)
    if sure.max() >= wanted.value - 1e-12:
        bounded, other = path.expected_precision, path.expected_recall
        if wanted.measure == "recall":
            bounded, other = other, bounded
        met = np.flatnonzero(bounded >= wanted.value - 1e-12)
        return int(met[np.argmax(other[met])]), True
    return int(np.argmax(sure)), False


def _sure(path: Path, wanted: Wanted) -> NDArray[np.float64]:
    """What is expected less deviations: the best of many uncertain points is a lucky one."""
    which = int(wanted.measure == "recall")
    expected = (path.expected_precision, path.expected_recall)[which]
    if path.deviations is None:
        return expected
    return np.maximum(expected - LUCK[wanted.average] * path.deviations[which], 0)


def _best(path: Path, place: int | None, wanted: Wanted) -> dict[str, float]:
    """The figures of the best point there is, the wanted one as far as it is sure."""
    if place is None:
        return {"precision": 0.0, "recall": 0.0}
    figures = {"precision": path.expected_precision, "recall": path.expected_recall}
    figures[wanted.measure] = _sure(path, wanted)
    return {name: float(values[place]) for name, values in figures.items()}
