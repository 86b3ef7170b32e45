"""What a worker of a Dask cluster runs: a task, of which it tells the command what it took.

That goes as an event, ahead of the news that the task is done. A task's value would have to be
fetched from its worker, which may be dead by then.
"""

from distributed import get_worker

from app.engine import Task
from app.engines.worker_task import run_task


def run_reported_task(folder: str, handle: str, task: Task) -> None:
    """Make the task's part, and tell what it took."""
    get_worker().log_event(reports_topic(folder), [*run_task(folder, handle, task)])


def reports_topic(folder: str) -> str:
    """The name of the events of a command, whose folder is its alone."""
    return f"labelserve-tasks-{folder}"
