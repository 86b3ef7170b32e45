"""Worker: what becomes of a job, with a queue of each kind."""

import logging
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from soak.job_queue import SHORT, JobQueue, opened
from soak.postgresql import PostgresqlServer

from app.serving.jobs.folders import job_folder, sqlite_file
from app.serving.jobs.job import JobProgress
from app.serving.jobs.workers.progress_file import ProgressFile, read_progress
from app.serving.jobs.workers.worker_options import WorkerOptions
from tests.serving.jobs.made_up import corpus

pytestmark = pytest.mark.slow

LONG = {"bootstrap": 10_000}
"""Takes longer than any test waits: it is cancelled, stopped, lost or given up."""


def long_upload(queue: JobQueue) -> str:
    return queue.upload(corpus(5000))


def results(queue: JobQueue) -> list[str]:
    """The jobs that have left anything on the disk."""
    folder = queue.options.data_dir / "evaluations"
    jobs = folder.iterdir() if folder.is_dir() else ()
    return sorted(path.name for path in jobs if any(path.iterdir()))


def test_a_job_is_done_with_the_report_of_its_version(queue: JobQueue) -> None:
    upload = queue.upload(corpus(60))
    (id,) = queue.submit(upload)
    with queue.working():
        job = queue.wait_for(id, "done", "failed")
    assert (job.state, job.token, job.deaths, job.failures, job.error) == ("done", 1, 0, 0, None)
    report = queue.report(id)
    assert (report["model"], report["version"]) == ("tiny", job.version)
    assert (job.data, job.documents_done, job.documents_expected) == (upload, 60, 60)
    assert job.headline is not None
    assert job.headline["micro.f1"] == report["decisions"]["micro"]["f1"]
    files = job_folder(queue.options.data_dir, id).rglob("*.*")
    assert job.bytes == sum(file.stat().st_size for file in files)


def test_bad_data_fail_at_once_and_a_missing_upload_after_three_tries(
    queue: JobQueue, caplog: pytest.LogCaptureFixture
) -> None:
    bad = queue.upload(b'{"text": "a secret", "labels": ["billing"]}\n{"text": 1}\n')
    missing, broken, good = queue.submit("0" * 64, bad, queue.upload(corpus(10)))
    with queue.working():
        assert queue.wait_for(good, "done", "failed").state == "done"
        job = queue.wait_for(broken, "failed")
        assert job.error is not None
        assert (job.failures, job.error["error"], job.error["line"]) == (1, "InvalidDataError", 2)
        job = queue.wait_for(missing, "failed")
        assert job.error is not None
        assert (job.failures, job.error["error"]) == (3, "UploadNotFoundError")
    assert "secret" not in caplog.text
    assert results(queue) == [good]


def test_a_worker_that_ends_puts_its_job_back_and_a_cancelled_one_is_stopped(
    queue: JobQueue,
) -> None:
    (id,) = queue.submit(long_upload(queue), **LONG)
    with queue.working():
        queue.wait_for(id, "running")
    job = queue.get(id)
    assert (job.state, job.deaths, job.failures, job.error) == ("queued", 0, 0, None)
    with queue.working() as worker:
        queue.wait(lambda: queue.get(id).documents_done > 0)
        queue.table.cancel(id)
        (after,) = queue.submit(queue.upload(corpus(10)))
        assert queue.wait_for(after, "done").worker == worker.name
    assert queue.get(id).state == "cancelled"
    assert results(queue) == [after]


def test_an_evaluation_that_takes_too_long_fails_with_a_timeout(queue: JobQueue) -> None:
    queue.options = replace(queue.options, evaluate_seconds=1.0)
    (id,) = queue.submit(long_upload(queue), **LONG)
    with queue.working():
        job = queue.wait_for(id, "failed")
    assert job.error is not None
    assert (job.failures, job.error["error"]) == (1, "DeadlineError")


def test_a_lost_lease_stops_the_evaluation_and_nothing_is_written(queue: JobQueue) -> None:
    (id,) = queue.submit(long_upload(queue), **LONG)
    with queue.working():
        queue.wait_for(id, "running")
        queue.database.rows("UPDATE {jobs} SET token = token + 1, worker = 'x', state = 'failed'")
        (after,) = queue.submit(queue.upload(corpus(10)))
        queue.wait_for(after, "done")
    assert (queue.get(id).worker, queue.get(id).state) == ("x", "failed")
    assert results(queue) == [after]


def outages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [said for said in caplog.messages if "database of evaluations" in said]


def test_a_restart_of_postgresql_loses_nothing_and_is_said_once(
    postgresql: PostgresqlServer,
    tmp_path: Path,
    tiny_models: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    postgresql.stop()
    postgresql.start(is_synced=True)
    options = WorkerOptions(tiny_models, tmp_path, postgresql.new_database(), terms=SHORT)
    with opened(options, "tiny") as queue:
        (under_way,) = queue.submit(long_upload(queue), **LONG)
        (waiting,) = queue.submit(queue.upload(corpus(10)))
        with queue.working():
            queue.wait_for(under_way, "running")
            postgresql.stop()
            queue.wait(lambda: len(outages(caplog)) == 1)
            time.sleep(1.5 * SHORT.seconds)  # the lease runs out meanwhile; nobody can take it
            postgresql.start(is_synced=True)
            queue.wait(lambda: len(outages(caplog)) == 2)
            job = queue.get(under_way)
            assert job.state in ("running", "done")  # a fast machine has ended it meanwhile
            assert (job.token, job.deaths) == (1, 0)
            queue.table.cancel(under_way)
            assert queue.wait_for(waiting, "done").failures == 0
    assert "again, after" in outages(caplog)[1]


def test_a_sqlite_file_that_is_locked_for_long_is_waited_for(
    tmp_path: Path,
    tiny_models: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.serving.jobs.dialects.BUSY_SECONDS", 0.2)
    with opened(WorkerOptions(tiny_models, tmp_path, terms=SHORT), "tiny") as queue:
        (id,) = queue.submit(queue.upload(corpus(10)))
        with closing(sqlite3.connect(sqlite_file(tmp_path), isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with queue.working():
                queue.wait(lambda: len(outages(caplog)) == 1)
                time.sleep(SHORT.seconds)
                other.execute("ROLLBACK")
                job = queue.wait_for(id, "done")
    assert (job.token, job.failures, len(outages(caplog))) == (1, 0, 1)


def test_progress_is_read_as_it_was_written_last(tmp_path: Path) -> None:
    assert read_progress(tmp_path) == JobProgress()
    with ProgressFile(tmp_path) as progress:
        assert read_progress(tmp_path) == JobProgress()
        progress.show("evaluate", 1000, 5000)
        progress.show("evaluate", 2, 3)
    assert read_progress(tmp_path) == JobProgress(2, 3)


def test_options_of_a_worker_are_handed_over_as_they_are(tmp_path: Path) -> None:
    options = WorkerOptions(tmp_path, tmp_path / "var", "postgresql://", terms=SHORT)
    assert WorkerOptions.from_json(options.as_json()) == options
