"""JobQueue: jobs, the workers that a test or a long run starts for them, and their reports."""

import asyncio
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from bench.harness.environment import ROOT

from app.artifacts.store import Store
from app.serving.jobs.database import open_database
from app.serving.jobs.folders import results_folder, storage_id
from app.serving.jobs.job import Job
from app.serving.jobs.job_table import JobTable
from app.serving.jobs.leases import Leases, LeaseTerms
from app.serving.jobs.workers.worker import JobWorker
from app.serving.jobs.workers.worker_options import WorkerOptions

SHORT = LeaseTerms(seconds=2.0, renew_seconds=0.4, retry_seconds=0.1)
"""For tests: long enough for a machine that is busy with others."""
READING = {
    "format": "jsonl",
    "text_columns": ["text"],
    "label_column": "labels",
    "label_separator": "auto",
    "on_error": "fail",
}
WAIT_SECONDS = 300


@dataclass
class JobQueue:
    """A data folder with its jobs, and the workers that were started on it."""

    options: WorkerOptions
    model: str
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database = open_database(self.options.jobs_url, self.options.data_dir)
        self.table = JobTable(self.database)
        self.storage = storage_id(self.options.data_dir)
        self.leases = Leases(self.database, self.storage, self.options.terms)
        (self.options.data_dir / "uploads").mkdir(exist_ok=True)

    @property
    def log(self) -> str:
        """What the worker processes have said."""
        return (self.options.data_dir / "log").read_text()

    def upload(self, content: bytes) -> str:
        """Put a test set among the uploads; its hash."""
        sha256 = hashlib.sha256(content).hexdigest()
        (self.options.data_dir / "uploads" / sha256).write_bytes(content)
        return sha256

    def job(self, upload: str, **options: Any) -> Job:
        """An evaluation by the model's current version, to be handed in."""
        return Job(
            model=self.model,
            version=Store(self.options.models_dir).current(self.model) or "",
            upload=upload,
            storage=self.storage,
            reading=READING,
            options={"k": [1, 3], **options},
        )

    def submit(self, *uploads: str, **options: Any) -> list[str]:
        """Hand in a job for each; their ids."""
        return [job.id for job in self.table.submit(self.job(one, **options) for one in uploads)]

    def get(self, id: str) -> Job:
        """The job as it stands."""
        found = self.table.get(id)
        if found is None:
            raise RuntimeError(f"there is no job {id}")
        return found

    def start(self) -> subprocess.Popen[str]:
        """A worker as a service starts it; it ends with its standard input."""
        with (self.options.data_dir / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.serving.jobs.workers.worker_process"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        if process.stdin is not None:
            process.stdin.write(self.options.as_json() + "\n")
            process.stdin.flush()
        self.processes.append(process)
        return process

    @contextmanager
    def working(self) -> Iterator[JobWorker]:
        """A worker in a thread of this process, stopped and waited for at the end of the block."""
        loop = asyncio.new_event_loop()
        worker = JobWorker(self.options)
        thread = Thread(target=lambda: loop.run_until_complete(worker.work()))
        thread.start()
        try:
            yield worker
        finally:
            loop.call_soon_threadsafe(worker.stop)
            thread.join()
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    def wait(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; TimeoutError where it does not in minutes."""
        end = time.monotonic() + WAIT_SECONDS
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"did not come true within {WAIT_SECONDS} seconds")
            time.sleep(0.05)

    def wait_for(self, id: str, *states: str) -> Job:
        """The job, once it is in one of these states."""
        self.wait(lambda: self.get(id).state in states)
        return self.get(id)

    def report(self, id: str) -> dict[str, Any]:
        """The report of a job that is done, without what differs from run to run."""
        job = self.get(id)
        folder = results_folder(self.options.data_dir, id, job.token)
        report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        if not all((folder / name).is_file() for name in ("report.html", "kept.json")):
            raise RuntimeError(f"the results of {id} are not all there")
        return {name: value for name, value in report.items() if name != "seconds"}

    def close(self) -> None:
        """Kill the workers that are left."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait(30)
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        self.database.close()


@contextmanager
def opened(options: WorkerOptions, model: str) -> Iterator[JobQueue]:
    """The queue; its workers end with the block."""
    queue = JobQueue(options, model)
    try:
        yield queue
    finally:
        queue.close()
