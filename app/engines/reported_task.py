"""What a worker of a Dask cluster runs: a task, whose CPU seconds it tells the command.

They go as an event, ahead of the news that the task is done. A task's value would have to be
fetched from its worker, which may be dead by then.
"""

from distributed import get_worker

from app.engine import Task
from app.engines.worker_task import run_task


def run_reported_task(folder: str, handle: str, task: Task) -> None:
    """Make the task's part, and tell what it took."""
    get_worker().log_event(seconds_topic(folder), run_task(folder, handle, task))


def seconds_topic(folder: str) -> str:
    """The name of the events of a command, whose folder is its alone."""
    return f"labelserve-cpu-seconds-{folder}"
