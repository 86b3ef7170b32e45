"""Engine: where the tasks of a training run, and what a training offers to be cut into tasks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.state import State

Task: TypeAlias = tuple[int, ...]
"""Bounds: which of the blocks, the nodes. They are all that is sent to a worker."""

TaskArrays: TypeAlias = tuple[NDArray[Any], ...]
"""What a task gives: the same arrays in the same order for every task of a workload."""

ArrayName: TypeAlias = NDArray[np.bytes_]
"""The name of an array that stays with the engine, 64 characters: what `Engine.store` gives, and
what a workload may share instead of the array itself."""


class Workload(Protocol):
    """Tasks that do not depend on one another, over data that they share.

    A task's arrays depend on `shared()` and the task alone, so that it makes no difference where
    or how often it is run, and which others were run before.
    """

    kind: ClassVar[str]
    """Its name in the catalogue of `app/engines`, from which another process builds it again."""

    def shared(self) -> State:
        """What every task reads: JSON settings, and arrays."""

    @classmethod
    def from_shared(cls, state: State) -> Self:
        """Build an equal workload, on memory-mapped, read-only arrays."""

    def run(self, task: Task) -> TaskArrays:
        """What one task gives; several threads may call it at once."""


class StoringWorkload(Workload, Protocol):
    """A workload whose tasks give large arrays, which others read and nobody else needs."""

    stored: ClassVar[slice]
    """Which of a task's arrays stay with the engine: their names are given instead."""


class WeightedWorkload(Workload, Protocol):
    """A workload whose tasks differ in size, so that what is left can be told."""

    def weights(self, tasks: Sequence[Task]) -> Sequence[float]:
        """About how much work each task is, against the others."""


class Extent(NamedTuple):
    """The data that a task was about."""

    n_documents: int
    n_bytes: int
    """Of text or of files; 0 where it is not known."""


class MeasuredWorkload(Workload, Protocol):
    """A workload that says how much data a task was about, for those who wait."""

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """Told on the worker, with what the task gave."""


class Engine(Protocol):
    """Runs tasks somewhere else than in threads of this process."""

    def store(self, array: NDArray[Any]) -> ArrayName:
        """Keep an array that several workloads share."""

    def open(self, name: ArrayName) -> NDArray[Any]:
        """An array that is kept here, mapped."""

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        """Each task's arrays, in the order of the tasks."""

    def map_each(self, works: Iterable[Workload]) -> Iterator[TaskArrays]:
        """What the only task, (0,), of each workload gives, in the order of the workloads.

        For data that no task needs all of: a workload is let go once it is shared.
        """

    def cpu_seconds(self) -> float:
        """CPU seconds of the tasks that were finished so far; none for parts that were there."""
