"""InlineEngine: tasks one after another in this process, through the files that workers use."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from app.engine import ArrayName, Task, TaskArrays, Workload
from app.engines.parts import part_path, read_part
from app.engines.shared_files import store_array, stored_array, write_shared
from app.engines.worker_task import run_task


class InlineEngine:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, array: NDArray[Any]) -> ArrayName:
        self._folder.mkdir(parents=True, exist_ok=True)
        return store_array(self._folder, array)

    def open(self, name: ArrayName) -> NDArray[Any]:
        return stored_array(self._folder, name)

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        handle = write_shared(self._folder, work.shared())
        return (self._done(handle, task) for task in tasks)

    def map_each(self, works: Iterable[Workload]) -> Iterator[TaskArrays]:
        return (self._done(write_shared(self._folder, one.shared()), (0,)) for one in works)

    def cpu_seconds(self) -> float:
        return 0.0

    def _done(self, handle: str, task: Task) -> TaskArrays:
        run_task(str(self._folder), handle, task)
        arrays = read_part(part_path(self._folder, handle, task))
        assert arrays is not None
        return arrays
