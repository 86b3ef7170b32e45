"""The one protocol every learner keeps."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.progress import Progress, silent
from app.state import State


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to fit, apart from the learner's own settings. The result is free of `jobs`."""

    jobs: int = 1
    seed: int = 0
    device: str = "auto"
    progress: Progress = silent
    valid: tuple[Features, Truth] | None = None
    checkpoint: Path | None = None
    """Where a long training keeps its best state for `--resume`; None: nowhere."""
    vectors: NDArray[np.float32] | None = None
    """Start vectors of the word numbers, for networks; rows of not-a-number where there is none."""


class Learner(Protocol):
    """Learns labels from features. Settings in the constructor, data in `fit`, then immutable."""

    kind: ClassVar[str]
    features: ClassVar[str]
    """The vectorizer kind it wants by default: `tfidf`, `sequences`, …"""
    zero_is_neutral: ClassVar[bool]
    """Whether `score > 0` is a sensible decision (SVM margins, logits); else `zero` is refused."""

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn from features (documents, terms) and truth (documents, labels)."""
        ...

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Dense scores of a chunk of documents; -inf where there is none. Never NaN."""
        ...

    def state(self) -> State:
        """Everything needed to build an equal learner."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again, on memory-mapped arrays where possible."""
        ...
