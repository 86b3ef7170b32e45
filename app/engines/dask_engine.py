"""DaskEngine: tasks on the workers of a Dask cluster, and nothing but their names on its wire."""

import secrets
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from distributed import Client, Future, KilledWorker, as_completed
from numpy.typing import NDArray

from app.engine import ArrayName, Extent, Task, TaskArrays, Workload
from app.engines.parts import part_path, read_part
from app.engines.reported_task import TOPIC
from app.engines.shared_files import store_array, stored_array, write_shared
from app.engines.task_count import Idle, Pace, TaskCount
from app.engines.worker_task import TaskReport, forget_workloads
from app.errors import ClusterError

RETRIES = 3
CALL = (
    "__import__('app.engines.reported_task', fromlist=['run_reported_task'])"
    ".run_reported_task({!r}, {!r}, {!r})"
)
"""A task, as an expression: a worker without labelserve would end itself over a function that it
does not have, and nobody would be told. This it can refuse."""
RESUME = "what was finished is kept: run the same command again with --resume"
"""What to do when a training stops; other commands say it otherwise."""
WATCHED = 30.0
"""Seconds between two looks whether any worker is there."""


class SharedTask(NamedTuple):
    """A task of a workload that workers find by its handle; the name is for messages."""

    kind: str
    number: int
    handle: str
    bounds: Task
    weight: float = 1.0

    @property
    def name(self) -> str:
        """As messages call it: by its bounds, or by its number where it is the only one."""
        return "-".join([self.kind, *map(str, self.bounds if self.number < 0 else (self.number,))])


class DaskEngine:
    """Shares workloads as files of a folder that all workers see, and reads their parts there."""

    def __init__(self, client: Client, folder: Path, again: str, show: tuple[Pace, Idle]) -> None:
        self._client, self._folder = client, folder.resolve()
        self._again, (self._pace, self._idle) = again, show
        self._session = secrets.token_hex(4)
        self._reported = TaskReport()
        client.subscribe_topic(TOPIC, self._count)

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        """Each task's arrays, in the order of the tasks."""
        handle = self.share(work)
        weights = work.weights(tasks) if hasattr(work, "weights") else [1.0] * len(tasks)
        pairs = zip(tasks, weights, strict=True)
        return self._run([SharedTask(work.kind, -1, handle, task, size) for task, size in pairs])

    def map_each(self, works: Iterable[Workload]) -> Iterator[TaskArrays]:
        """What the only task of each workload gives, in the order of the workloads."""
        numbered = enumerate(works)
        return self._run([SharedTask(one.kind, i, self.share(one), (0,)) for i, one in numbered])

    def cpu_seconds(self) -> float:
        """CPU seconds of the tasks that were finished so far; none for parts that were there."""
        return self._reported.cpu_seconds

    def _count(self, event: tuple[float, Sequence[Any]]) -> None:
        """Add the report of a task, which comes behind the time and the folder of the event."""
        folder, *report = event[1]
        if folder == str(self._folder):
            self._reported = TaskReport(*map(sum, zip(self._reported, report, strict=True)))

    def _run(self, tasks: "Sequence[SharedTask]") -> Iterator[TaskArrays]:
        """Each task's arrays, in their order; each future is let go when it is done."""
        waiting = {self._submitted(task, i): i for i, task in enumerate(tasks)}
        weight, weight_done = sum(task.weight for task in tasks), 0.0
        self._tell(tasks, 0, 0.0)
        done: set[int] = set()
        given = 0
        ended = self._watched(waiting)
        try:
            for future in as_completed(list(waiting), loop=self._client.loop):
                i = waiting.pop(future)
                self._check(future, tasks[i].name)
                future.release()
                weight_done += tasks[i].weight
                self._tell(tasks, len(tasks) - len(waiting), weight_done / weight)
                done.add(i)
                while given in done:
                    done.remove(given)
                    yield self._arrays(tasks[given])
                    given += 1
        finally:
            ended.set()
            self._cancel(list(waiting))

    def _watched(self, waiting: Sized) -> Event:
        """Have it told now and then that no worker is there, until the event is set."""
        ended = Event()

        def watch() -> None:
            while not ended.wait(WATCHED):
                if self._is_there() and not self._client.nthreads():
                    self._idle(len(waiting))

        Thread(target=watch, daemon=True).start()
        return ended

    def _tell(self, tasks: "Sequence[SharedTask]", n_done: int, share: float) -> None:
        if tasks:
            data = Extent(self._reported.n_documents, self._reported.n_bytes)
            count = TaskCount(tasks[0].kind, n_done, len(tasks), share, data)
            self._pace(count, lambda: len(self._client.nthreads()))

    def share(self, work: Workload) -> str:
        """Write what the workload's tasks share; the handle that workers find it by."""
        return write_shared(self._folder, work.shared())

    def store(self, array: NDArray[Any]) -> ArrayName:
        """Keep an array that several workloads share."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return store_array(self._folder, array)

    def open(self, name: ArrayName) -> NDArray[Any]:
        """An array that is kept in the folder, mapped."""
        return stored_array(self._folder, name)

    def close(self) -> None:
        """Let the workers forget the last workload, where they still can."""
        if self._is_there():
            with suppress(Exception):  # a worker that dies now keeps nothing either
                self._client.run(forget_workloads)

    def _submitted(self, task: "SharedTask", i: int) -> Future:
        """Tasks are begun in their order: what was waited for is then read at once."""
        return self._client.submit(
            eval,
            CALL.format(str(self._folder), task.handle, task.bounds),
            key=f"{task.name}-{task.handle[:8]}-{self._session}",
            retries=RETRIES,
            priority=-i,
        )

    def _arrays(self, task: "SharedTask") -> TaskArrays:
        """What a task gave, from the disk: its worker may be dead by now, and its part is not."""
        path = part_path(self._folder, task.handle, task.bounds)
        arrays = read_part(path)
        if arrays is None:
            raise ClusterError(
                f"{path} is not here as a worker wrote it: command and workers must see the same "
                f"folder; {self._again}"
            )
        return arrays

    def _check(self, future: Future, name: str) -> None:
        """Raise what became of a task that workers could not do."""
        if future.status == "error":
            raise ClusterError(f"{_failure(future.exception(), name)}; {self._again}")
        if future.status == "cancelled":
            raise ClusterError(f"the scheduler is gone, or dropped {name}; {self._again}")

    def _cancel(self, futures: list[Future]) -> None:
        if futures and self._is_there():
            with suppress(Exception):  # what led here is what is to be told
                self._client.cancel(futures, force=True)

    def _is_there(self) -> bool:
        """Whether the scheduler is connected: nobody waits until it comes back."""
        return bool(self._client.status == "running")


def _failure(error: Any, name: str) -> str:
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        return (
            f"{deaths} workers died while they did {name}, the last at "
            f"{error.last_worker.address}: most often memory runs out; give workers more of it, or "
            "fewer threads"
        )
    if isinstance(error, ModuleNotFoundError):
        return (
            f"a worker has no labelserve ({error}): install 'labelserve[cluster]' on all of them, "
            "of the versions that are here"
        )
    return f"{name} failed {RETRIES + 1} times: {str(error) or type(error).__name__}"
