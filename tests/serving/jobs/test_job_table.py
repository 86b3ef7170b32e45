"""JobTable: the same answers from SQLite and PostgreSQL."""

from contextlib import closing
from pathlib import Path

import pytest
from soak.postgresql import PostgresqlServer

from app.errors import InvalidRequestError
from app.serving.jobs.database import open_database
from app.serving.jobs.folders import storage_id
from app.serving.jobs.job_table import JobFilter, JobTable
from app.serving.jobs.leases import Leases
from tests.serving.jobs.made_up import DATA, RESULT, UPLOAD, job


def test_a_job_is_given_back_as_it_was_handed_in(table: JobTable) -> None:
    reading = {"format": "csv", "text_columns": ["Größe", "\0", "\ud800"]}
    handed_in = job("here", name="tëst\0.csv", owner="key1", keep=False, reading=reading)
    (stored,) = table.submit([handed_in])
    assert table.get(stored.id) == stored
    assert (stored.state, stored.token, stored.batch) == ("queued", 0, stored.id)
    assert (stored.name, stored.keep, stored.reading) == ("tëst�.csv", False, reading)
    assert stored.created > 1.7e9
    assert table.get("unknown") is None


def test_pages_list_every_job_once_and_the_newest_first(table: JobTable) -> None:
    stored = [one for _ in range(20) for one in table.submit(job("here") for _ in range(3))]
    listed, cursor = [], None
    for _ in range(31):
        page = table.page(cursor=cursor, limit=2)
        listed += page.jobs
        cursor = page.cursor
        if cursor is None:
            break
    assert listed == stored[::-1]
    with pytest.raises(InvalidRequestError):
        table.page(cursor="nonsense")


def test_filters_leave_out_what_differs(table: JobTable) -> None:
    batch = {"batch": "b1"}
    made = table.submit(job("here", model=model, **batch) for model in ("a", "b", "c"))
    table.submit([job("here", model="a", data=DATA)])
    table.cancel(made[0].id)

    def models(**wanted: object) -> list[str]:
        return [one.model for one in table.page(JobFilter(**wanted)).jobs]  # type: ignore[arg-type]

    assert models() == ["a", "c", "b", "a"]
    assert models(model="a") == ["a", "a"]
    assert models(batch="b1") == ["c", "b", "a"]
    assert models(data=DATA) == ["a"]
    assert models(state="cancelled", models=["a", "c"]) == ["a"]
    assert models(models=["b", "c"]) == ["c", "b"]
    assert models(models=[]) == []
    assert table.models() == ["a", "b", "c"]


def test_only_ended_jobs_are_deleted_and_only_waiting_ones_cancelled(
    table: JobTable, leases: Leases, tmp_path: Path
) -> None:
    storage = storage_id(tmp_path)
    done, waiting = table.submit([job(storage), job(storage)])
    claimed = leases.claim("w")
    assert claimed is not None
    assert not table.delete(done.id)
    leases.finish(claimed, RESULT)
    kept = table.cancel(done.id)
    assert kept is not None
    assert kept.state == "done"
    assert table.delete(done.id)
    assert not table.delete(done.id)
    cancelled = table.cancel(waiting.id)
    assert cancelled is not None
    assert (cancelled.state, cancelled.finished is not None) == ("cancelled", True)
    assert table.cancel(done.id) is None
    assert table.delete(waiting.id)


def test_a_pin_and_a_note_are_changed_alone(table: JobTable) -> None:
    (stored,) = table.submit([job("here")])
    assert table.update(stored.id, pinned=True).pinned  # type: ignore[union-attr]
    changed = table.update(stored.id, note="ein \ud800 \0")
    assert changed is not None
    assert (changed.pinned, changed.note) == (True, "ein ? �")
    assert table.update("unknown", note="") is None


def test_counts_and_use_of_uploads_follow_the_states(table: JobTable) -> None:
    assert table.oldest_queued_seconds() == 0
    first, _ = table.submit([job("here", keep=False), job("here", upload="b" * 64)])
    assert table.counts() == {"queued": 2, "running": 0, "done": 0, "failed": 0, "cancelled": 0}
    assert table.oldest_queued_seconds() >= 0
    assert table.upload_in_use(UPLOAD, "here")
    assert not table.upload_in_use(UPLOAD, "elsewhere")
    table.cancel(first.id)
    assert not table.upload_in_use(UPLOAD, "here")
    assert table.upload_in_use("b" * 64, "here")


def test_a_submission_is_stored_whole_or_not_at_all(table: JobTable) -> None:
    (known,) = table.submit([job("here")])
    with pytest.raises(Exception, match=r"."):
        table.submit([job("here"), known])
    assert table.counts()["queued"] == 1


def test_a_removed_sqlite_file_is_made_again(tmp_path: Path) -> None:
    with closing(open_database(None, tmp_path)) as database:
        table = JobTable(database)
        table.submit([job("here")])
        (tmp_path / "jobs.sqlite").unlink()
        assert table.page().jobs == []
    assert (tmp_path / "jobs.sqlite").stat().st_mode & 0o777 == 0o600


def test_one_data_folder_has_one_id(tmp_path: Path) -> None:
    assert storage_id(tmp_path) == storage_id(tmp_path)
    assert storage_id(tmp_path / "other") != storage_id(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "storage-id"]


def test_text_comes_back_as_text_from_a_cluster_that_was_made_without_a_locale(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    url = postgresql.new_database("SQL_ASCII")
    with closing(open_database(url, tmp_path)) as database:
        assert database.rows("SHOW server_encoding") == [{"server_encoding": "SQL_ASCII"}]
        table = JobTable(database)
        (stored,) = table.submit([job("here", name="tëst.csv")])
        assert table.get(stored.id) == stored
        assert stored.name == "tëst.csv"
