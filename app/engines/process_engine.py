"""ProcessEngine: tasks in processes of this machine, by the same files as on a cluster."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from app.engine import ArrayName, Task, TaskArrays, Workload
from app.engines.parts import part_path, read_part
from app.engines.shared_files import store_array, stored_array, write_shared
from app.engines.worker_task import TaskReport, run_task
from app.errors import ClusterError

DIED = (
    "a process ended before its time (too little memory?): run the same command again, with fewer "
    "--jobs"
)
AHEAD = 2
"""Tasks for each process whose parts may wait to be read: more would fill the disk."""


class ProcessEngine:
    """Shares workloads as files of a folder; `jobs` processes make the parts."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._folder, self._jobs = folder, jobs
        self._cpu_seconds = 0.0

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        """Each task's arrays, in the order of the tasks."""
        handle = write_shared(self._folder, work.shared())
        return self._run([(handle, task) for task in tasks])

    def map_each(self, works: Iterable[Workload]) -> Iterator[TaskArrays]:
        """What the only task of each workload gives, in the order of the workloads."""
        return self._run([(write_shared(self._folder, one.shared()), (0,)) for one in works])

    def store(self, array: NDArray[Any]) -> ArrayName:
        """Keep an array that several workloads share."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return store_array(self._folder, array)

    def open(self, name: ArrayName) -> NDArray[Any]:
        """An array that is kept in the folder, mapped."""
        return stored_array(self._folder, name)

    def cpu_seconds(self) -> float:
        """CPU seconds of the tasks whose arrays were given so far."""
        return self._cpu_seconds

    def _run(self, tasks: Sequence[tuple[str, Task]]) -> Iterator[TaskArrays]:
        """Each task's arrays, in their order; a part is gone once it was read."""
        waiting: list[Future[TaskReport]] = []
        # Spawned, not forked: this process may have threads.
        pool = ProcessPoolExecutor(min(self._jobs, len(tasks)), get_context("spawn"))
        try:
            for number, task in enumerate(tasks):
                for each in tasks[number + len(waiting) : number + AHEAD * self._jobs]:
                    waiting.append(pool.submit(run_task, str(self._folder), *each))
                self._cpu_seconds += waiting.pop(0).result().cpu_seconds
                yield self._arrays(*task)
        except BrokenProcessPool as broken:
            raise ClusterError(DIED) from broken
        finally:
            pool.shutdown(cancel_futures=True)

    def _arrays(self, handle: str, task: Task) -> TaskArrays:
        path = part_path(self._folder, handle, task)
        arrays = read_part(path)
        if arrays is None:
            raise ClusterError(f"{path} is not as it was written: is its disk in order?")
        path.unlink()
        return arrays
