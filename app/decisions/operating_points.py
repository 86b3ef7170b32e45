"""Operating points: the cuts with the best recall at a wanted precision, or the other way round.

Algorithm 3 of Pillai et al. (2013) looks for the β whose cuts just meet the constraint. Here all
points of all β lie ready on a path (see decisions/tuning/pr_curve.py), so it is one search in it.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np

from app.decisions.decision import Decision, Expected
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.optimism import Optimism
from app.decisions.tuning.pr_curve import AVERAGES, Path
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
    def read(cls, name: str) -> "Wanted | None":
        """`precision>=0.9`, `macro:f2` … read; None where the name is no operating point's."""
        match = WANTED.fullmatch(name)
        if match is None:
            return None
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


class OperatingPoints:
    """Answers operating points from hulls; the last few are kept, any thread may ask."""

    def __init__(self, hulls: Hulls, optimism: Optimism | None = None) -> None:
        self._hulls, self._optimism = hulls, optimism
        self._paths: dict[str, Path] = {}
        self._found: OrderedDict[str, Decision] = OrderedDict()
        self._lock = Lock()

    def find(self, name: str) -> Decision:
        """The cuts of that point, and the precision and recall to expect there.

        `UnattainableError` with the best there is; what is sent is not echoed in any error.
        """
        wanted = Wanted.read(name)
        if wanted is None:
            raise InvalidRequestError(f"no such operating point; accepted: {ACCEPTED}")
        with self._lock:
            found = self._found.pop(wanted.name, None) or self._compute(wanted)
            self._found[wanted.name] = found
            if len(self._found) > CACHED:
                self._found.popitem(last=False)
            return found

    def _compute(self, wanted: Wanted) -> Decision:
        if wanted.measure == "f":
            return self._best_f(wanted)
        path = self._path(wanted.average)
        place = _place(path, wanted)
        cuts = self._hulls.cuts[path.vertices(self._hulls, place)]
        return Decision(cuts, wanted.name, expected=_expected(path, place))

    def _best_f(self, wanted: Wanted) -> Decision:
        best, figures = AVERAGES[wanted.average]
        vertices = best(self._hulls, wanted.value)
        cuts = self._hulls.cuts[vertices]
        n_steps = int((vertices - self._hulls.offsets[:-1]).sum())
        if wanted.average == "macro" or n_steps == 0:
            expected = Expected(*figures(self._hulls, vertices))
        else:
            expected = _expected(self._path(wanted.average), n_steps - 1)
        return Decision(cuts, wanted.name, expected=expected)

    def _path(self, average: str) -> Path:
        if average not in self._paths:
            macro = average == "macro"
            path = Path.macro(self._hulls) if macro else Path.micro(self._hulls, self._optimism)
            self._paths[average] = path
        return self._paths[average]


def _expected(path: Path, place: int) -> Expected:
    precision, recall = path.expected_precision[place], path.expected_recall[place]
    return Expected(float(precision), float(recall))


def _place(path: Path, wanted: Wanted) -> int:
    """The path's point that meets the bound and is best at the other measure.

    The bound is to hold by the expected figures; where held-out scores meet it, but no expectation
    does, by those: then the point of the highest expectation. Fewest steps among equals. Sums of
    shares carry rounding in their last digits, hence the hair's breadth.
    """
    seen, expected = path.precision, path.expected_precision
    other = path.expected_recall
    if wanted.measure == "recall":
        seen, expected, other = path.recall, path.expected_recall, path.expected_precision
    is_met = seen >= wanted.value - 1e-12
    if not is_met.any():
        raise UnattainableError(wanted.name, _nearest(path, wanted))
    both = np.flatnonzero(is_met & (expected >= wanted.value - 1e-12))
    if len(both):
        return int(both[np.argmax(other[both])])
    met = np.flatnonzero(is_met)
    return int(met[np.argmax(expected[met])])


def _nearest(path: Path, wanted: Wanted) -> dict[str, float]:
    """The point of the highest precision (then recall), or of the highest recall."""
    if not len(path.taken):
        return {"precision": 0.0, "recall": 0.0}
    if wanted.measure == "recall":
        place = int(np.argmax(path.recall))
    else:
        place = len(path.taken) - 1 - int(np.argmax(path.precision[::-1]))
    return {"precision": float(path.precision[place]), "recall": float(path.recall[place])}
