"""DaskEngine: tasks on the workers of a Dask cluster, and nothing but their names on its wire."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

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
        waiting = {self._submitted(work.kind, handle, task): i for i, task in enumerate(tasks)}
        digests: dict[int, str] = {}
        given = 0
        try:
            for future in as_completed(list(waiting), loop=self._client.loop):
                i = waiting.pop(future)
                digests[i] = self._digest(future, _name(work.kind, tasks[i]))
                future.release()
                while given in digests:
                    yield self._arrays(handle, tasks[given], digests.pop(given))
                    given += 1
        finally:
            self._cancel(list(waiting))
        if given < len(tasks):
            raise ClusterError(f"the scheduler is gone; {RESUME}")

    def share(self, work: Workload) -> str:
        """Write what the workload's tasks share; the handle that workers find it by."""
        return write_shared(self._folder, work.shared())

    def close(self) -> None:
        """Let the workers forget the last workload, where they still can."""
        with suppress(Exception):  # a cluster that is gone keeps nothing either
            self._client.run(forget_workloads)

    def _submitted(self, kind: str, handle: str, task: Task) -> Future:
        key = f"{_name(kind, task)}-{handle[:8]}-{self._session}"
        folder = str(self._folder)
        return self._client.submit(run_task, folder, handle, task, key=key, retries=RETRIES)

    def _digest(self, future: Future, name: str) -> str:
        if future.status == "error":
            _raise(future.exception(), name)
        if future.status != "finished":
            raise ClusterError(f"the scheduler is gone, or dropped {name}; {RESUME}")
        digest: str = future.result()
        return digest

    def _arrays(self, handle: str, task: Task, digest: str) -> TaskArrays:
        path = part_path(self._folder, handle, task)
        arrays = read_part(path, digest)
        if arrays is None:
            raise ClusterError(
                f"{path} is not here as a worker wrote it: command and workers must see the same "
                f"folder; {RESUME}"
            )
        return arrays

    def _cancel(self, futures: list[Future]) -> None:
        with suppress(Exception):  # of a cluster that is gone there is nothing to cancel
            self._client.cancel(futures, force=True)


def _name(kind: str, task: Task) -> str:
    return "-".join([kind, *map(str, task)])


def _raise(error: Any, name: str) -> NoReturn:
    """What became of a task that workers could not do."""
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        raise ClusterError(
            f"{deaths} workers died while they did {name}, the last at "
            f"{error.last_worker.address}: most often memory runs out; give workers more of it, or "
            f"fewer threads; {RESUME}"
        )
    raise ClusterError(f"{name} failed {RETRIES + 1} times: {error or 'no reason'}; {RESUME}")
