"""Folds: parts of the documents, and which of them train the model that scores each part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Split(NamedTuple):
    """Documents that are held out (`inside`), and those that the model is fitted to (`outside`)."""

    inside: NDArray[np.int32]
    outside: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Folds:
    """The part of every document, 0, 1, 2 …

    Each part is scored by a model of all others; where `is_forward`, by a model of the parts before
    it, so that the first part is never scored.
    """

    parts: NDArray[np.int32]
    is_forward: bool = False

    def splits(self) -> Iterator[Split]:
        """One split for every part that is scored."""
        for part in np.unique(self.parts)[int(self.is_forward) :]:
            is_outside = self.parts < part if self.is_forward else self.parts != part
            inside = np.flatnonzero(self.parts == part).astype(np.int32)
            yield Split(inside, np.flatnonzero(is_outside).astype(np.int32))

    def scored(self) -> NDArray[np.int64]:
        """The documents that are held out in one of the splits."""
        first = self.parts.min(initial=0)
        return np.flatnonzero((self.parts > first) | (not self.is_forward))

    def scored_parts(self) -> NDArray[np.int32] | None:
        """The part of each of these; None where all are scored by one model."""
        parts: NDArray[np.int32] = self.parts[self.scored()]
        return None if (parts == parts[:1]).all() else parts


def forward_folds(order: NDArray[np.int64], n_parts: int) -> Folds:
    """Parts of equal size along an order of the documents: each is scored by what came before.

    >>> forward_folds(np.array([2, 0, 1]), 3).parts.tolist()
    [1, 2, 0]
    """
    parts = np.empty(len(order), np.int32)
    parts[order] = np.arange(len(order)) * n_parts // max(len(order), 1)
    return Folds(parts, is_forward=True)


def two_parts(split: Split) -> Folds:
    """The folds of which that split is the only one: its documents outside are never scored."""
    parts = np.zeros(len(split.inside) + len(split.outside), np.int32)
    parts[split.inside] = 1
    return Folds(parts, is_forward=True)
