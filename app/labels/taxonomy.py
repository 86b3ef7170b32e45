"""Taxonomy: what a labels file says about the labels: names, descriptions, parents."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.labels.index import LabelIndex
from app.state import PackedStrings, State


class LabelEntry(NamedTuple):
    """What a labels file says about one label; empty where it says nothing."""

    label: str
    name: str = ""
    description: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """Names, descriptions and parents of labels.

    The first entries are the model's labels, in the order of their columns, whether the labels file
    has them or not; then come the file's further labels, which may be ancestors.
    """

    labels: LabelIndex
    further: PackedStrings
    """The labels of the entries after the model's own."""
    names: PackedStrings
    descriptions: PackedStrings
    parents: NDArray[np.int32]
    """The entry of each entry's parent; -1: it has none."""
    depths: NDArray[np.int32] = field(init=False, repr=False)
    """How many ancestors each entry has."""

    def __post_init__(self) -> None:
        n = len(self.labels) + len(self.further)
        lengths = {len(self.names), len(self.descriptions), len(self.parents)}
        if lengths != {n} or self.parents.dtype != np.int32:
            raise ValueError("the labels' names and parents do not fit the labels")
        object.__setattr__(self, "depths", depths_of(self.parents))

    @classmethod
    def of(cls, entries: Sequence[LabelEntry], labels: LabelIndex) -> Self:
        """The entries of a labels file for these labels; every parent must be an entry."""
        known = {entry.label: entry for entry in entries}
        further = sorted(known.keys() - labels.columns.keys())
        ordered = [known.get(label, LabelEntry(label)) for label in (*labels.names, *further)]
        places = {entry.label: place for place, entry in enumerate(ordered)}
        return cls(
            labels,
            PackedStrings.of(further),
            PackedStrings.of([entry.name for entry in ordered]),
            PackedStrings.of([entry.description for entry in ordered]),
            np.array([places[e.parent] if e.parent else -1 for e in ordered], np.int32),
        )

    @property
    def is_hierarchy(self) -> bool:
        """Whether any label has a parent."""
        return bool((self.parents >= 0).any())

    def label(self, entry: int) -> str:
        """The label of an entry."""
        own = self.labels.names
        return own[entry] if entry < len(own) else self.further[entry - len(own)]

    def ancestors(self, entry: int) -> list[int]:
        """The entries above an entry: its parent first, the root last."""
        found, above = [], int(self.parents[entry])
        while above >= 0:
            found.append(above)
            above = int(self.parents[above])
        return found

    def roots(self) -> NDArray[np.int64]:
        """The uppermost ancestor of every entry; a root is its own."""
        above = np.where(self.parents < 0, np.arange(len(self.parents)), self.parents)
        while not np.array_equal(above, above[above]):
            above = above[above]
        return above

    def entries(self) -> list[LabelEntry]:
        """The entries as a labels file would have them."""
        labels = [*self.labels.names, *self.further]
        parents = [labels[parent] if parent >= 0 else "" for parent in self.parents.tolist()]
        rows = zip(labels, self.names, self.descriptions, parents, strict=True)
        return [LabelEntry(*row) for row in rows]

    def texts(self) -> list[str]:
        """Each of the model's labels as a small document: name and description, else the label."""
        rows = zip(self.labels.names, self.names, self.descriptions, strict=False)
        return [
            f"{name or words_of(label)} {description}".strip() for label, name, description in rows
        ]

    def state(self) -> State:
        """Bytes and places; the model's own labels are stored with the model."""
        arrays = {
            **self.further.arrays("further"),
            **self.names.arrays("names"),
            **self.descriptions.arrays("descriptions"),
            "parents": self.parents,
        }
        return State("taxonomy", {}, arrays)

    @classmethod
    def from_state(cls, state: State, labels: LabelIndex) -> Self:
        """Build an equal taxonomy again; what does not fit is a ValueError."""
        arrays = state.arrays
        further, names, descriptions = (
            PackedStrings(arrays[name], arrays[f"{name}_ends"])
            for name in ("further", "names", "descriptions")
        )
        return cls(labels, further, names, descriptions, arrays["parents"])


def depths_of(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many ancestors each entry has; a circle is a ValueError.

    Every round doubles how far up is looked, so a chain of a million takes twenty rounds.

    >>> depths_of(np.int32([-1, 0, 1, -1])).tolist()
    [0, 1, 2, 0]
    """
    n = len(parents)
    if n and (parents.min() < -1 or parents.max() >= n):
        raise ValueError("a label's parent is not there")
    above = np.append(np.where(parents < 0, n, parents), n)
    depths = (above < n).astype(np.int32)
    rounds = n.bit_length()
    while np.any(above < n):
        if not rounds:
            raise ValueError("labels are their own ancestors")
        depths, above, rounds = depths + depths[above], above[above], rounds - 1
    return np.asarray(depths[:n], np.int32)


def words_of(label: str) -> str:
    """A label as words, split where labels have no spaces.

    >>> words_of("use::money-fx_rates/usd")
    'use  money fx rates usd'
    """
    return label.translate(str.maketrans("-_/:", "    "))
