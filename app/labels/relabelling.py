"""Relabelling: labels answered under another name, several as one, or never; nothing is retrained.

Scores, cuts and hulls stay those of the trained labels. A label that several were merged into is
decided where one of them is, and takes the score, probability and cut of the best that is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores
from app.labels.index import LabelIndex
from app.state import State, pack_strings, unpack_strings

HIDDEN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Relabelling:
    """The labels that are answered, and which of them each trained label has become."""

    labels: LabelIndex
    targets: NDArray[np.int32]
    """(trained labels,): the column among `labels`; HIDDEN for one that is never answered."""
    column_names: tuple[str, ...] = field(init=False, repr=False)
    """The name that each trained label is answered by; empty where it is hidden."""
    _sources: NDArray[np.intp] = field(init=False, repr=False)
    """The trained labels that are not hidden, by what they became."""
    _starts: NDArray[np.intp] = field(init=False, repr=False)
    """Where those of each label begin."""

    def __post_init__(self) -> None:
        n = len(self.labels)
        visible = np.flatnonzero(self.targets != HIDDEN)
        if self.targets.dtype != np.int32 or not np.array_equal(
            np.unique(self.targets[visible]), np.arange(n)
        ):
            raise ValueError("the relabelling does not fit its labels")
        sources = visible[np.argsort(self.targets[visible], kind="stable")]
        names = [*self.labels.names, ""]
        object.__setattr__(self, "column_names", tuple(names[t] for t in self.targets.tolist()))
        object.__setattr__(self, "_sources", sources)
        starts = np.searchsorted(self.targets[sources], np.arange(n))
        object.__setattr__(self, "_starts", starts)

    @classmethod
    def of(cls, answered: Sequence[str], renamed: Mapping[str, str]) -> Self:
        """What `renamed` makes of labels that are answered as these ("": never).

        >>> Relabelling.of(["a", "b", "c", ""], {"a": "z", "b": "c"}).column_names
        ('z', 'c', 'c', '')
        """
        names = [renamed.get(name, name) if name else "" for name in answered]
        labels = LabelIndex.of([[name for name in names if name]])
        columns = [labels.columns.get(name, HIDDEN) for name in names]
        return cls(labels, np.array(columns, np.int32))

    @property
    def has_merged(self) -> bool:
        """Whether a label stands for several trained ones."""
        return len(self._sources) > len(self.labels)

    @property
    def hidden(self) -> NDArray[np.intp]:
        """The trained labels that are never answered."""
        return np.flatnonzero(self.targets == HIDDEN)

    @property
    def sources(self) -> NDArray[np.intp]:
        """The trained label behind each label; only where none was merged."""
        if self.has_merged:
            raise ValueError("a merged label has several sources")
        return self._sources

    def best_scores(self, scores: Scores) -> Scores:
        """(…, labels): the highest score among the trained labels behind each."""
        if not self.has_merged:
            return scores[..., self._sources]
        return np.maximum.reduceat(scores[..., self._sources], self._starts, axis=-1)

    def best_sources(self, scores: Scores, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """For some labels of one document, the trained label of the highest score behind each."""
        ends = np.append(self._starts[1:], len(self._sources))
        behind = [self._sources[self._starts[label] : ends[label]] for label in labels.tolist()]
        return np.array([own[np.argmax(scores[own])] for own in behind], np.intp)

    def behind(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """The trained labels behind some labels."""
        return np.flatnonzero(np.isin(self.targets, labels))

    def cuts(self, cuts: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cut of each label; NaN for one that several were merged into."""
        counts = np.diff(np.append(self._starts, len(self._sources)))
        return np.where(counts == 1, cuts[self._sources[self._starts]], np.float32(np.nan))

    def old_names(self, trained: LabelIndex) -> dict[str, str]:
        """Trained label → label for every name that is no label any more; "" where it is hidden."""
        pairs = zip(trained.names, self.column_names, strict=True)
        return {old: new for old, new in pairs if old not in self.labels.columns}

    def state(self) -> State:
        """The labels and one array."""
        names: dict[str, NDArray[Any]] = pack_strings(self.labels.names, "labels")
        settings = {"labels": len(self.labels)}
        return State("relabelling", settings, {**names, "targets": self.targets})

    @classmethod
    def from_state(cls, state: State, n_trained: int) -> Self:
        """Build an equal relabelling again; what does not fit is a ValueError."""
        if len(state.arrays["targets"]) != n_trained:
            raise ValueError("the relabelling is not for these labels")
        labels = LabelIndex(tuple(unpack_strings(state.arrays, "labels")))
        return cls(labels, state.arrays["targets"])
