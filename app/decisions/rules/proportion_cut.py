"""Proportional cut (Pcut): each label goes to as many documents of a batch as training suggests."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.errors import InvalidRequestError

ACCEPTED = "proportion:X with a number X above 0 and at most 1000000, as in proportion:1"


@dataclass(frozen=True, slots=True)
class ProportionCut:
    """Per label the x·D·frequency best of D documents (Yang 2001): needs the whole batch.

    Rounded half up, at most all that have a score; ties go to the earlier document.
    """

    x: float
    frequencies: NDArray[np.float64]
    """The share of training documents that carry each label."""

    @classmethod
    def of(cls, name: str, training_counts: NDArray[np.int64], n_documents: int) -> "ProportionCut":
        """The cut that `proportion:X` names, for a model trained on so many documents."""
        return cls(read_x(name), training_counts / max(n_documents, 1))

    @property
    def name(self) -> str:
        """As the user writes it."""
        return name_of(self.x)

    def sizes(self, n_documents: int) -> NDArray[np.int64]:
        """How many of so many documents get each label."""
        wanted = np.floor(self.x * n_documents * self.frequencies + 0.5)
        return np.minimum(wanted, n_documents).astype(np.int64)

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels of a whole batch."""
        pairs = zip(scores.T, self.sizes(len(scores)).tolist(), strict=True)
        ends = [last_place(column, size) for column, size in pairs]
        cuts = np.array([end.cut for end in ends], np.float32)
        return up_to(scores, cuts, np.array([end.document for end in ends], np.int64))


class LastPlace(NamedTuple):
    """The score of the last document that gets a label, and its number: at most it at a tie."""

    cut: float
    document: int


def last_place(scores: NDArray[np.float32], size: int) -> LastPlace:
    """Where the `size` best of a label's documents end; at infinity if there are none."""
    size = min(size, int(np.count_nonzero(scores > -np.inf)))
    if not size:
        return LastPlace(np.inf, -1)
    cut = np.partition(scores, len(scores) - size)[len(scores) - size]
    room = size - int(np.count_nonzero(scores > cut))
    return LastPlace(float(cut), int(np.flatnonzero(scores == cut)[room - 1]))


def up_to(
    scores: Scores, cuts: NDArray[np.float32], documents: NDArray[np.int64], first: int = 0
) -> Marks:
    """Mark what comes no later than each label's last place; `first` is the first row's number."""
    numbers = np.arange(first, first + len(scores))[:, None]
    return np.asarray((scores > cuts) | ((scores == cuts) & (numbers <= documents)))


def read_x(name: str) -> float:
    """The X of `proportion:X`; what is sent is not echoed in the error.

    >>> read_x("proportion:.5")
    0.5
    """
    kind, _, argument = name.partition(":")
    try:
        x = float(argument)
    except ValueError:
        x = 0.0
    if kind != "proportion" or not 0 < x <= 1_000_000:
        raise InvalidRequestError(f"no such decision; accepted: {ACCEPTED}")
    return x


def name_of(x: float) -> str:
    """The one spelling of `proportion:X`."""
    return f"proportion:{x:.12g}"
