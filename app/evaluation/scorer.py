"""What is judged: anything that gives scores for documents and can decide on them."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.labels import LabelIndex


class Decider(Protocol):
    """Scores of some documents → the labels each gets."""

    @property
    def name(self) -> str:
        """As the user writes it."""
        ...

    @property
    def cuts(self) -> NDArray[np.float32] | None:
        """Per-label thresholds, None for a decision by rank."""
        ...

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels that pass."""
        ...


class Scorer(Protocol):
    """A classifier, or a file of scores that stands in for one."""

    @property
    def labels(self) -> LabelIndex:
        """The labels it knows."""
        ...

    @property
    def decision(self) -> Decider:
        """What it decides by itself."""
        ...

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document (texts, or rows of features)."""
        ...
