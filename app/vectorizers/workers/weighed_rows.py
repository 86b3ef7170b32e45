"""WeighedRows: the tf-idf rows of a group of texts, as a task of a worker."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features
from app.engine import Engine, Extent, Task, TaskArrays
from app.kernels import kernels
from app.kernels.text.counts import Counts
from app.resources.scratch import ScratchFolder, release
from app.state import State
from app.vectorizers.tfidf_settings import TfidfSettings
from app.vectorizers.workers.learnt_terms import CountedGroup


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """Counts of some texts, the column of each of their own columns (−1: none), and the idf."""

    kind: ClassVar[str] = "weighed-rows"
    scheme: str
    is_binary: bool
    group: CountedGroup
    numbers: NDArray[Any]
    idf: NDArray[Any]

    def shared(self) -> State:
        """All of it; of counts, columns and idf the names."""
        settings = {"scheme": self.scheme, "is_binary": self.is_binary}
        arrays = {**self.group._asdict(), "numbers": self.numbers, "idf": self.idf}
        return State(self.kind, settings, arrays)

    @classmethod
    def from_shared(cls, state: State) -> "WeighedRows":
        """The same again."""
        arrays = state.arrays
        group = CountedGroup(*(arrays[name] for name in CountedGroup._fields))
        return cls(**state.settings, group=group, numbers=arrays["numbers"], idf=arrays["idf"])

    def run(self, task: Task) -> TaskArrays:
        """The number of entries of each row, their columns and their weights."""
        counts = self._counts()
        weights = kernels("text.tfidf").tfidf_weights(counts, self.idf, self.scheme)
        return np.diff(counts.indptr), counts.columns, weights

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The rows; how long their texts were is not known here."""
        return Extent(len(arrays[0]), 0)

    def _counts(self) -> Counts:
        columns: NDArray[np.int32] = self.numbers[self.group.columns]
        ends = np.concatenate(([0], np.cumsum(self.group.sizes)))
        counts: NDArray[Any] = self.group.counts
        if self.is_binary:
            counts = np.ones(len(columns), np.int32)
        stays = columns >= 0
        if not stays.all():
            ends = np.concatenate(([0], np.cumsum(stays)))[ends]
            columns, counts = columns[stays], counts[stays]
        return Counts(ends, columns, counts)


@dataclass(frozen=True, slots=True)
class CountedTexts:
    """The counts of all groups, and where their columns are among those of the features."""

    groups: Sequence[CountedGroup]
    numbers: Iterable[NDArray[Any]]
    """For each group."""
    n_entries: int


def weighed_on(
    engine: Engine,
    counted: CountedTexts,
    idf: NDArray[np.float64],
    settings: TfidfSettings,
    scratch: ScratchFolder | None,
) -> Features:
    """The rows of all texts, weighed by workers; in files where there is a folder for them."""
    name = engine.store(idf)
    works = (
        WeighedRows(settings.scheme, settings.binary, group, numbers, name)
        for group, numbers in zip(counted.groups, counted.numbers, strict=True)
    )
    return _joined(engine.map_each(works), counted, len(idf), scratch)


def _joined(
    parts: Iterator[TaskArrays],
    counted: CountedTexts,
    n_features: int,
    scratch: ScratchFolder | None,
) -> Features:
    empty = scratch.empty if scratch else np.empty
    columns = empty((counted.n_entries,), np.int32)
    weights = empty((counted.n_entries,), np.float32)
    sizes, at = [np.zeros(1, np.int64)], 0
    for own_sizes, own_columns, own_weights in parts:
        end = at + len(own_columns)
        columns[at:end], weights[at:end] = own_columns, own_weights
        release(columns, weights)
        sizes.append(own_sizes)
        at = end
    return sparse_rows(weights, columns, np.cumsum(np.concatenate(sizes)), n_features)


def sparse_rows(
    weights: NDArray[np.float32], columns: NDArray[np.int32], ends: NDArray[Any], n_features: int
) -> Features:
    """The matrix of these rows; with 64-bit row ends scipy would widen every column number."""
    if len(weights) <= np.iinfo(np.int32).max:
        ends = ends.astype(np.int32)
    return csr_array((weights, columns, ends), shape=(len(ends) - 1, n_features))
