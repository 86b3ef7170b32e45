"""Proportional cut (Pcut): each label goes to as many documents of a batch as training suggests."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.errors import InvalidRequestError

ACCEPTED = "proportion:X with a number X above 0, as in proportion:1"


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
        kind, _, argument = name.partition(":")
        try:
            x = float(argument)
        except ValueError:
            x = 0.0
        if kind != "proportion" or not 0 < x < np.inf:
            raise InvalidRequestError(f"no such decision; accepted: {ACCEPTED}")
        return cls(x, training_counts / max(n_documents, 1))

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"proportion:{self.x:g}"

    def sizes(self, n_documents: int) -> NDArray[np.int64]:
        """How many of so many documents get each label."""
        wanted = np.floor(self.x * n_documents * self.frequencies + 0.5)
        return np.minimum(wanted, n_documents).astype(np.int64)

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels of a whole batch."""
        marks = np.zeros(scores.shape, dtype=np.bool_)
        for label, size in enumerate(self.sizes(len(scores))):
            best = np.argsort(-scores[:, label], kind="stable")[:size]
            marks[best, label] = True
        return marks & (scores > -np.inf)
