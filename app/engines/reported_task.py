"""What a worker of a Dask cluster runs: a task, of which it tells the command what it took.

That goes as an event, ahead of the news that the task is done. A task's value would have to be
fetched from its worker, which may be dead by then.
"""

from distributed import get_worker

from app.engine import Task
from app.engines.worker_task import run_task
from app.errors import ClusterError

TOPIC = "labelserve-tasks"
"""One for all commands, which know theirs by their folders: a scheduler forgets no topic."""


def run_reported_task(folder: str, handle: str, task: Task) -> None:
    """Make the task's part, and tell what it took; what goes wrong is told with the worker."""
    worker = get_worker()
    try:
        report = run_task(folder, handle, task)
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ClusterError(f"{reason} (worker {worker.address})") from None
    worker.log_event(TOPIC, [folder, *report])
