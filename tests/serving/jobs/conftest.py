"""A database of each kind, and what is done with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from soak.job_queue import SHORT, JobQueue, opened

from app.serving.jobs.database import Database, open_database
from app.serving.jobs.folders import storage_id
from app.serving.jobs.job_table import JobTable
from app.serving.jobs.leases import Leases
from app.serving.jobs.workers.worker_options import WorkerOptions


@pytest.fixture
def database(jobs_url: str | None, tmp_path: Path) -> Iterator[Database]:
    found = open_database(jobs_url, tmp_path)
    yield found
    found.close()


@pytest.fixture
def table(database: Database) -> JobTable:
    return JobTable(database)


@pytest.fixture
def leases(database: Database, tmp_path: Path) -> Leases:
    return Leases(database, storage_id(tmp_path))


@pytest.fixture
def queue(jobs_url: str | None, tmp_path: Path, tiny_models: Path) -> Iterator[JobQueue]:
    """Jobs in a database of each kind, with short leases."""
    options = WorkerOptions(tiny_models, tmp_path, jobs_url, terms=SHORT)
    with opened(options, "tiny") as found:
        yield found
