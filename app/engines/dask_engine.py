"""DaskEngine: tasks on the workers of a Dask cluster, and nothing but their names on its wire."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker, as_completed

from app.engine import Task, TaskArrays, Workload
from app.engines.parts import part_path, read_part
from app.engines.shared_files import write_shared
from app.engines.worker_task import forget_workloads, run_task
from app.errors import ClusterError

RETRIES = 3
RESUME = "what was finished is kept: run the same command again with --resume"


class DaskEngine:
    """Shares workloads as files of a folder that all workers see, and reads their parts there."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client, self._folder = client, folder.resolve()
        self._session = secrets.token_hex(4)

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        """Each task's arrays, in the order of the tasks; each future is let go when it is done."""
        handle = self.share(work)
        waiting = {self._submitted(work.kind, handle, tasks, i): i for i in range(len(tasks))}
        done: set[int] = set()
        given = 0
        try:
            for future in as_completed(list(waiting), loop=self._client.loop):
                i = waiting.pop(future)
                _check(future, _name(work.kind, tasks[i]))
                future.release()
                done.add(i)
                while given in done:
                    done.remove(given)
                    yield self._arrays(handle, tasks[given])
                    given += 1
        finally:
            self._cancel(list(waiting))

    def share(self, work: Workload) -> str:
        """Write what the workload's tasks share; the handle that workers find it by."""
        return write_shared(self._folder, work.shared())

    def close(self) -> None:
        """Let the workers forget the last workload, where they still can."""
        if self._is_there():
            with suppress(Exception):  # a worker that dies now keeps nothing either
                self._client.run(forget_workloads, wait=False)

    def _submitted(self, kind: str, handle: str, tasks: Sequence[Task], i: int) -> Future:
        """Tasks are begun in their order: what was waited for is then read at once."""
        return self._client.submit(
            run_task,
            str(self._folder),
            handle,
            tasks[i],
            key=f"{_name(kind, tasks[i])}-{handle[:8]}-{self._session}",
            retries=RETRIES,
            priority=-i,
        )

    def _arrays(self, handle: str, task: Task) -> TaskArrays:
        """What a task gave, from the disk: its worker may be dead by now, and its part is not."""
        path = part_path(self._folder, handle, task)
        arrays = read_part(path)
        if arrays is None:
            raise ClusterError(
                f"{path} is not here as a worker wrote it: command and workers must see the same "
                f"folder; {RESUME}"
            )
        return arrays

    def _cancel(self, futures: list[Future]) -> None:
        if futures and self._is_there():
            with suppress(Exception):  # what led here is what is to be told
                self._client.cancel(futures, force=True)

    def _is_there(self) -> bool:
        """Whether the scheduler is connected: nobody waits until it comes back."""
        return bool(self._client.status == "running")


def _name(kind: str, task: Task) -> str:
    return "-".join([kind, *map(str, task)])


def _check(future: Future, name: str) -> None:
    """Raise what became of a task that workers could not do."""
    if future.status == "error":
        raise _failure(future.exception(), name)
    if future.status == "cancelled":
        raise ClusterError(f"the scheduler is gone, or dropped {name}; {RESUME}")


def _failure(error: Any, name: str) -> ClusterError:
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        return ClusterError(
            f"{deaths} workers died while they did {name}, the last at "
            f"{error.last_worker.address}: most often memory runs out; give workers more of it, or "
            f"fewer threads; {RESUME}"
        )
    return ClusterError(f"{name} failed {RETRIES + 1} times: {error or 'no reason'}; {RESUME}")
