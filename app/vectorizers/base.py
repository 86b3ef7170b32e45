"""The one protocol every vectorizer keeps."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

from app.arrays import Features
from app.progress import Progress, silent
from app.state import State


class Vectorizer(Protocol):
    """Turns documents into features: texts (or, for `ready-made`, feature rows) in, rows out."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """How many columns `transform` gives."""
        ...

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Learn the vocabulary, and the same rows that `transform` gives. Result free of `jobs`."""
        ...

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Features, one row a document; an empty or unknown text is an empty row."""
        ...

    def terms(self) -> Sequence[str]:
        """What each column stands for, in column order."""
        ...

    def state(self) -> State:
        """Everything needed to build an equal vectorizer."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again, on memory-mapped arrays where possible."""
        ...
