"""in_order: what workers make of each of several files, read as one data set would be."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

from app.datasets.base import ReadOptions
from app.datasets.cells.label_cells import AUTO
from app.engine import Engine, TaskArrays, Workload

Result = TypeVar("Result")


class FileWorkload(Workload, Protocol):
    """A workload of one task a file."""

    @property
    def files(self) -> Sequence[Any]:
        """The files, in their order."""

    @property
    def others(self) -> ReadOptions:
        """How those behind the first are read."""

    def separated_by(self, separator: str) -> Self:
        """The same, with labels of those files separated so."""


def in_order(
    engine: Engine,
    work: FileWorkload,
    made_of: Callable[[TaskArrays], Result],
    separator: Callable[[Result], str],
) -> Iterator[Result]:
    """What `made_of` makes of every file's arrays.

    The first file that tells how labels are separated tells it of all behind it, as in `Parts`;
    these are then read again where they were read without knowing.
    """
    left = range(len(work.files))
    while left:
        for number, arrays in zip(left, engine.map(work, [(n,) for n in left]), strict=False):
            result = made_of(arrays)
            yield result
            left, told = range(number + 1, len(work.files)), separator(result)
            if told and work.others.label_separator == AUTO:
                work = work.separated_by(told)
                break
