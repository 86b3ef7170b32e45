"""Decision: what every rule comes down to, as data, and the one place that applies it to scores."""

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.errors import DamagedArtifactError
from app.kernels import is_postponed, kernels
from app.state import State

SORTED_AT_ONCE = 128
"""Labels that are sorted while they are picked; more than these are sorted afterwards."""

Row: TypeAlias = NDArray[np.float32]
Columns: TypeAlias = NDArray[np.intp]


class Expected(NamedTuple):
    """The precision and recall to expect of new documents, by held-out data.

    The intervals hold nine of ten test sets of a third of the documents tuned on; None where that
    is not known.
    """

    precision: float
    recall: float
    precision_interval: tuple[float, float] | None = None
    recall_interval: tuple[float, float] | None = None
    met: bool | None = None
    """Whether the bound is expected to hold, where the nearest point was asked for."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Per-label cuts and a largest number of labels per document, under the rule's name.

    A label is assigned where its score is strictly above its cut; of more than `most_labels` the
    best, ties by rising label number. A score of -inf is above no cut.
    """

    cuts: Row | None
    """(labels,); None: every label that has a score passes."""
    name: str
    """As the user writes the rule: `zero`, `rank:3`, `micro-f` …"""
    most_labels: int | None = None
    """None: no bound."""
    expected: Expected | None = None
    """Known for operating points; not stored with a model."""
    unreached: NDArray[np.intp] | None = None
    """The labels that cannot reach the precision asked of each, where it was."""

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels that each document gets."""
        cuts = self.cuts_of(scores.shape[1])
        if self.most_labels is None:
            return _above(scores, cuts)
        marks = np.zeros(scores.shape, np.bool_)
        for row, marked in zip(scores, marks, strict=True):
            marked[best(row, cuts, self.most_labels)[0]] = True
        return marks

    def cuts_of(self, n_labels: int) -> Row:
        """The cuts as kernels take them: -inf where there is none."""
        return np.full(n_labels, -np.inf, np.float32) if self.cuts is None else self.cuts

    def state(self) -> State:
        """The name and the bound, and the cuts where there are any."""
        arrays = {} if self.cuts is None else {"cuts": self.cuts}
        return State("decision", {"name": self.name, "most_labels": self.most_labels}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """An equal decision; earlier versions wrote the kinds `score-cut` and `rank-cut`."""
        settings = state.settings
        if state.kind == "rank-cut":
            return cls(None, f"rank:{settings['k']}", settings["k"])
        if state.kind == "score-cut":
            return cls(state.arrays["cuts"], settings["name"])
        if state.kind != "decision":
            raise DamagedArtifactError("its decision is of a kind that is not known here")
        return cls(state.arrays.get("cuts"), settings["name"], settings["most_labels"])


def best(scores: Row, cuts: Row, k: int | None) -> tuple[Columns, Row]:
    """The k best columns above their cuts (None: all), and their scores.

    By falling score, ties by rising column. A score of -inf is above no cut.

    >>> scores = np.array([0.5, 2.0, -np.inf, 2.0], np.float32)
    >>> columns, values = best(scores, np.full(4, -np.inf, np.float32), 3)
    >>> columns.tolist(), values.tolist()
    ([1, 3, 0], [2.0, 2.0, 0.5])
    """
    if scores.dtype != np.float32:  # a file of scores, which kernels do not read
        everything, sorted_values = by_score(scores, np.flatnonzero(_above(scores, cuts)))
        return everything[:k], sorted_values[:k]
    size = SORTED_AT_ONCE if k is None else min(k, SORTED_AT_ONCE)
    columns, values = np.empty(size, np.int64), np.empty(size, np.float32)
    passing: int = _picking(is_postponed()).pick(scores, cuts, columns, values)
    if passing > size and size != k:  # rare: so many that they are better sorted as a whole
        everything, sorted_values = by_score(scores, np.flatnonzero(scores > cuts))
        return everything[:k], sorted_values[:k]
    return columns[:passing], values[:passing]


def _above(scores: Scores, cuts: Row) -> Marks:
    """Where scores are above their cuts; finer scores are rounded alike: 0.7 is not above 0.7."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32, copy=False) > cuts


def by_score(scores: Row, columns: Columns) -> tuple[Columns, Row]:
    """The columns by falling score, ties by rising column, and their scores."""
    ordered = columns[np.argsort(-scores[columns], kind="stable")]
    return ordered, scores[ordered]


@cache
def _picking(is_postponed: bool) -> ModuleType:
    """The kernel, looked up once, and once more when compiled kernels take over."""
    return kernels("linear.picking")
