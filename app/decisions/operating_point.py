"""Operating points: the cuts with the best recall at a wanted precision, or the other way round.

Algorithm 3 of Pillai et al. (2013) looks for the β whose cuts just meet the constraint. Here all
points of all β lie ready on a path (see app/decisions/pr_curve.py), so it is one search in it.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from app.decisions.hulls import Hulls
from app.decisions.pr_curve import AVERAGES, Path
from app.errors import InvalidRequestError, UnattainableError

ACCEPTED = "precision>=P, recall>=R (0 < P, R <= 1), f1, f0.5 or f2, each optionally after macro:"
WANTED = re.compile(r"(macro:|)(?:(precision|recall)>=([01]|[01]?\.\d{1,12})|f(1|0\.5|2))")
CACHED = 64


@dataclass(frozen=True, slots=True)
class Wanted:
    """An operating point's name, read: a bound on precision or recall, or a β."""

    average: str
    measure: str
    value: float

    @classmethod
    def read(cls, name: str) -> "Wanted":
        """Read `precision>=0.9`, `macro:f2` …; what is sent is not echoed in the error."""
        match = WANTED.fullmatch(name)
        if match is None:
            raise InvalidRequestError(f"no such operating point; accepted: {ACCEPTED}")
        average = "macro" if match[1] else "micro"
        wanted = cls(average, match[2] or "f", float(match[3] or match[4]))
        if wanted.measure != "f" and not 0 < wanted.value <= 1:
            raise InvalidRequestError(f"a bound is above 0 and at most 1; accepted: {ACCEPTED}")
        return wanted

    @property
    def name(self) -> str:
        """The one spelling of it."""
        prefix = "macro:" if self.average == "macro" else ""
        middle = "f" if self.measure == "f" else f"{self.measure}>="
        return f"{prefix}{middle}{self.value:.12g}"


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Cuts, and the precision and recall to expect there: those on held-out data."""

    name: str
    cuts: NDArray[np.float32]
    precision: float
    recall: float


class OperatingPoints:
    """Answers operating points from hulls; the last few are kept, any thread may ask."""

    def __init__(self, hulls: Hulls) -> None:
        self._hulls = hulls
        self._paths: dict[str, Path] = {}
        self._found: OrderedDict[str, OperatingPoint] = OrderedDict()
        self._lock = Lock()

    def find(self, name: str) -> OperatingPoint:
        """The operating point of that name; `UnattainableError` with the best there is."""
        wanted = Wanted.read(name)
        with self._lock:
            found = self._found.pop(wanted.name, None) or self._compute(wanted)
            self._found[wanted.name] = found
            if len(self._found) > CACHED:
                self._found.popitem(last=False)
            return found

    def _compute(self, wanted: Wanted) -> OperatingPoint:
        best, figures = AVERAGES[wanted.average]
        if wanted.measure == "f":
            vertices = best(self._hulls, wanted.value)
        else:
            path = self._path(wanted.average)
            vertices = path.vertices(self._hulls, _position(path, wanted))
        return OperatingPoint(
            wanted.name, self._hulls.cuts[vertices], *figures(self._hulls, vertices)
        )

    def _path(self, average: str) -> Path:
        if average not in self._paths:
            make = Path.macro if average == "macro" else Path.micro
            self._paths[average] = make(self._hulls)
        return self._paths[average]


def _position(path: Path, wanted: Wanted) -> int:
    """The point that meets the bound and is best at the other measure; fewest steps among equals.

    Sums of shares carry rounding in their last digits, hence the hair's breadth.
    """
    bound, other = path.precision, path.recall
    if wanted.measure == "recall":
        bound, other = other, bound
    meets = np.flatnonzero(bound >= wanted.value - 1e-12)
    if not len(meets):
        raise UnattainableError(wanted.name, _nearest(path, bound))
    return int(meets[np.argmax(other[meets])])


def _nearest(path: Path, bound: NDArray[np.float64]) -> dict[str, float]:
    if not len(bound):
        return {"precision": 0.0, "recall": 0.0}
    n = (
        len(bound) - 1 - int(np.argmax(bound[::-1]))
        if bound is path.precision
        else np.argmax(bound)
    )
    return {"precision": float(path.precision[n]), "recall": float(path.recall[n])}
