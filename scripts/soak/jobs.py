"""Evaluation jobs in the long runs (R32): killed and stopped workers, a database that is away."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from soak.findings import Findings
from soak.job_queue import JobQueue, opened
from soak.killed_workers import WORKERS, stopped_past_its_lease, survived, undisturbed
from soak.postgresql import PostgresqlServer

from app.serving.jobs.folders import sqlite_file
from app.serving.jobs.leases import LeaseTerms
from app.serving.jobs.workers.worker_options import WorkerOptions

JOBS, KILLS = 12, 40
TERMS = LeaseTerms(seconds=5.0, renew_seconds=1.0, retry_seconds=1.0)
AWAY_SECONDS = 30.0
PAUSE = 6.0
"""Seconds between two kills, at most: a job that no worker lives to end would fail, and should."""

Away = Callable[[float], None]
"""Takes the database away for so many seconds."""


def evaluation_jobs(models: Path, folder: Path, quick: bool) -> Findings:
    """R32: on each kind of database."""
    found, server = Findings(), PostgresqlServer()
    lines = (folder / "demo" / "train.jsonl").read_bytes().splitlines(keepends=True)
    parts = [b"".join(lines[start::3]) for start in range(3)]
    try:
        for name, url in (("SQLite", None), ("PostgreSQL", server.new_database())):
            data_dir = folder / f"jobs-{name}"
            data_dir.mkdir()
            with opened(WorkerOptions(models, data_dir, url, terms=TERMS), "demo") as queue:
                away = _restarted(server) if url else _locked(data_dir)
                _judge(found, name, queue, [queue.upload(part) for part in parts], away, quick)
    finally:
        server.remove()
    return found


def _judge(
    found: Findings, name: str, queue: JobQueue, uploads: list[str], away: Away, quick: bool
) -> None:
    kills = 4 if quick else KILLS
    result = survived(queue, uploads * (JOBS // len(uploads)), kills, pause=PAUSE)
    found.note(
        f"{name}: {WORKERS} workers killed {result.kills} times, {result.deaths} tries lost with "
        f"them, {result.most_deaths} at most of one job: {result.done} of {result.jobs} done",
        result.done == result.jobs,
    )
    wrong = len(result.done_twice) + len(result.different)
    found.note(f"{wrong} ended twice or otherwise than undisturbed", not wrong)
    queue.close()
    report, expected = stopped_past_its_lease(queue, uploads[0])
    found.note("SIGSTOP past the lease: its writes refused", report == expected)
    queue.close()
    seconds = 3.0 if quick else AWAY_SECONDS
    is_same = _outlived(queue, uploads, lambda: away(seconds))
    how = "restarted" if queue.options.jobs_url else "locked"
    found.note(f"{how}, {seconds:.0f} s away: nothing lost", is_same)


def _outlived(queue: JobQueue, uploads: list[str], go_away: Callable[[], None]) -> bool:
    """Whether jobs end as if the database had been there all the time."""
    expected = undisturbed(queue, uploads)
    ids = queue.submit(*uploads)
    queue.start()
    queue.wait(lambda: queue.table.counts()["running"] > 0)
    go_away()
    jobs = [queue.wait_for(id, "done", "failed") for id in ids]
    reports = [queue.report(job.id) for job in jobs if job.state == "done"]
    return reports == [expected[upload] for upload in uploads]


def _locked(data_dir: Path) -> Away:
    def away(seconds: float) -> None:
        with closing(sqlite3.connect(sqlite_file(data_dir), isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(seconds)

    return away


def _restarted(server: PostgresqlServer) -> Away:
    def away(seconds: float) -> None:
        server.stop()
        time.sleep(seconds)
        server.start(is_synced=True)

    return away
