"""What a worker runs: one task of a workload, whose arrays become a part file."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

from app.catalogue import find
from app.engine import Task, TaskArrays, Workload
from app.engines import WORKLOADS
from app.engines.parts import part_path, read_part, write_part
from app.engines.shared_files import is_stored, opened, read_shared, store_array
from app.resources.freed_memory import return_freed_memory

COPIES = {
    "read": "app.engines.local_copies:local_files",
    "remove": "app.engines.local_copies:remove_copies",
}
"""What needs Dask is loaded where Dask runs this."""
_lock = threading.Lock()
_built: dict[str, Workload] = {}


class TaskReport(NamedTuple):
    """What a task took, and how much data it was about; nothing where its part was there."""

    cpu_seconds: float = 0.0
    n_documents: int = 0
    n_bytes: int = 0


def run_task(folder: str, handle: str, task: Task) -> TaskReport:
    """Make the task's part, unless it is there and right.

    The scheduler has tasks run again that a dead worker had finished: they find their part.
    """
    path = part_path(Path(folder), handle, task)
    if _is_done(Path(folder), path):
        return TaskReport()
    start = thread_time()
    work = workload(folder, handle)
    arrays = work.run(task)
    write_part(path, _stored(Path(folder), work, arrays))
    extent = getattr(work, "extent", None)
    return TaskReport(thread_time() - start, *(extent(task, arrays) if extent else ()))


def _is_done(folder: Path, path: Path) -> bool:
    """Whether the part is there and right, and so are the arrays that it names."""
    arrays = read_part(path)
    return arrays is not None and all(is_stored(folder, array) for array in arrays)


def _stored(folder: Path, work: Workload, arrays: TaskArrays) -> TaskArrays:
    """The arrays, with the names of those that stay in the folder."""
    which: slice | None = getattr(work, "stored", None)
    if which is None:
        return arrays
    every = list(arrays)
    every[which] = [store_array(folder, array) for array in every[which]]
    return tuple(every)


def workload(folder: str, handle: str) -> Workload:
    """The workload behind a handle, built once a process: its threads share it."""
    with _lock:
        if handle not in _built:
            return_freed_memory()
            _built.clear()  # of an earlier training, or fold
            state = read_shared(Path(folder), handle, _local_files(Path(folder)))
            _built[handle] = find(WORKLOADS, state.kind, "workload").from_shared(state)
        return _built[handle]


def forget_workloads(dask_worker: Any) -> None:
    """Let go of what is kept for the next task, unless one is just beginning.

    This runs in the worker's event loop, which must not wait for a thread; Dask gives the worker
    to an argument of this name.
    """
    if _lock.acquire(blocking=False):
        _built.clear()
        opened.cache_clear()
        _lock.release()
        if removed := _on_cluster("remove"):
            removed(dask_worker)


def _local_files(folder: Path) -> Callable[[Path], Path]:
    """Where to read shared files: from the node's own disk where that is another one."""
    local = _on_cluster("read")
    return local(folder) if local else Path


def _on_cluster(what: str) -> Any:
    """What a worker of a cluster does with copies; None in other processes."""
    return find(COPIES, what, "use of copies") if "distributed.worker" in sys.modules else None
