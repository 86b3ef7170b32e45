"""Evaluations move between databases, and a file that is in use can be backed up."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import ConflictError
from app.serving.jobs.database import Database, open_database
from app.serving.jobs.job_table import JobTable
from app.serving.jobs.leases import Leases
from app.serving.jobs.upkeep.moving import copy_jobs
from tests.serving.jobs.made_up import ERROR, RESULT, job

ROOT = Path(__file__).parents[3]


def test_every_row_is_the_same_in_the_other_database_and_back_again(
    database: Database, table: JobTable, leases: Leases, tmp_path: Path
) -> None:
    storage = leases._storage
    table.submit(job(storage, note="ü", owner="key1", keep=False) for _ in range(4))
    for ends in ("done", "failed", "running"):
        claimed = leases.claim("worker")
        assert claimed is not None
        if ends == "done":
            leases.finish(claimed, RESULT)
        if ends == "failed":
            leases.fail(claimed, ERROR, is_final=True)
    before = table.page().jobs
    (tmp_path / "a").mkdir()
    with closing(open_database(None, tmp_path / "a")) as other:
        assert copy_jobs(database, other) == 4
        assert JobTable(other).page().jobs == before
        with pytest.raises(ConflictError):
            copy_jobs(database, other)
        for one in before:
            table.cancel(one.id)
            table.delete(one.id)
        assert copy_jobs(other, database) == 4
    assert table.page().jobs == before


def test_the_command_says_how_it_is_used(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/maintenance/move_jobs.py"), str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "to|from" in found.stderr


def test_a_backup_of_a_file_in_use_is_whole(tmp_path: Path) -> None:
    with closing(open_database(None, tmp_path)) as database:
        table = JobTable(database)
        table.submit(job("here") for _ in range(3))
        with database.transaction() as run:  # another process is about to write
            run("UPDATE {jobs} SET note = :note", note="half")
            with closing(sqlite3.connect(tmp_path / "jobs.sqlite")) as file:
                file.execute("VACUUM INTO ?", [str(tmp_path / "backup")])
    (tmp_path / "restored").mkdir()
    (tmp_path / "backup").rename(tmp_path / "restored" / "jobs.sqlite")
    with closing(open_database(None, tmp_path / "restored")) as database:
        assert [one.note for one in JobTable(database).page().jobs] == ["", "", ""]
