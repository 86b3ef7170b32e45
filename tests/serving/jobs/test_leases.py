"""Leases: a job is one worker's at a time, and only its latest claim may write."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier

import pytest

from app.errors import DatabaseUnavailableError, LeaseLostError
from app.serving.jobs.database import Database, open_database
from app.serving.jobs.dialects import Postgresql, Sqlite
from app.serving.jobs.folders import storage_id
from app.serving.jobs.job import Job, JobProgress
from app.serving.jobs.job_table import JobTable
from app.serving.jobs.leases import MOST_DEATHS, MOST_FAILURES, Leases, LeaseTerms
from tests.serving.jobs.made_up import ERROR, RESULT, job

OVER = LeaseTerms(seconds=-1.0, retry_seconds=0.0)
"""Leases that are over as soon as they are given."""
HOUR = 3600
MEMORY = "/dev/shm"  # noqa: S108


def claimed(leases: Leases, worker: str = "w") -> Job:
    found = leases.claim(worker)
    assert found is not None
    return found


def stored(table: JobTable, id: str) -> Job:
    found = table.get(id)
    assert found is not None
    return found


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return storage_id(tmp_path)


def test_jobs_are_claimed_once_in_their_order_and_only_of_the_own_folder(
    table: JobTable, leases: Leases, storage: str
) -> None:
    table.submit([job("elsewhere")])
    first, second = table.submit([job(storage), job(storage)])
    assert [claimed(leases).id, claimed(leases).id] == [first.id, second.id]
    assert leases.claim("w") is None
    assert stored(table, first.id).state == "running"


def test_a_lease_is_renewed_with_progress_and_the_result_kept(
    table: JobTable, leases: Leases, storage: str
) -> None:
    table.submit([job(storage)])
    mine = claimed(leases)
    assert leases.renew(mine, JobProgress(7, 20)) == "running"
    assert leases.renew(mine, JobProgress(8)) == "running"
    seen = stored(table, mine.id)
    assert (seen.documents_done, seen.documents_expected) == (8, 20)
    leases.finish(mine, RESULT)
    leases.finish(mine, RESULT)  # as after an answer of the database that was lost
    ended = stored(table, mine.id)
    assert (ended.state, ended.data, ended.headline) == ("done", RESULT.data, RESULT.headline)
    assert ended.finished is not None
    assert leases.claim("w") is None


def test_after_a_take_over_no_write_of_the_first_worker_counts(
    table: JobTable, database: Database, storage: str
) -> None:
    table.submit([job(storage)])
    leases = Leases(database, storage, OVER)
    first, second = claimed(leases, "one"), claimed(leases, "two")
    assert (second.id, second.token, second.deaths) == (first.id, first.token + 1, 1)
    before = stored(table, first.id)
    with pytest.raises(LeaseLostError):
        leases.look(first)
    with pytest.raises(LeaseLostError):
        leases.renew(first, JobProgress(1))
    with pytest.raises(LeaseLostError):
        leases.finish(first, RESULT)
    with pytest.raises(LeaseLostError):
        leases.fail(first, ERROR)
    with pytest.raises(LeaseLostError):
        leases.release(first)
    assert stored(table, first.id) == before
    leases.finish(second, RESULT)
    with pytest.raises(LeaseLostError):
        leases.finish(first, RESULT)


def test_a_cancelled_job_is_seen_at_the_next_renewal(
    table: JobTable, leases: Leases, storage: str
) -> None:
    table.submit([job(storage)])
    mine = claimed(leases)
    assert leases.look(mine) == "running"
    table.cancel(mine.id)
    assert leases.look(mine) == leases.renew(mine, JobProgress(1)) == "cancelled"
    with pytest.raises(LeaseLostError):
        leases.finish(mine, RESULT)
    assert stored(table, mine.id).state == "cancelled"
    table.delete(mine.id)
    with pytest.raises(LeaseLostError):
        leases.renew(mine, JobProgress(1))


def test_a_released_job_waits_again_and_loses_nothing(
    table: JobTable, leases: Leases, storage: str
) -> None:
    table.submit([job(storage)])
    mine = claimed(leases)
    leases.release(mine)
    again = claimed(leases)
    assert (again.deaths, again.failures, again.token) == (0, 0, 2)
    with pytest.raises(LeaseLostError):
        leases.finish(mine, RESULT)


def test_three_failures_of_its_own_make_a_job_fail_with_the_last_error(
    table: JobTable, database: Database, storage: str
) -> None:
    table.submit([job(storage)])
    leases = Leases(database, storage, replace(LeaseTerms(), retry_seconds=0.0))
    for number in range(MOST_FAILURES):
        mine = claimed(leases)
        leases.fail(mine, {**ERROR, "said": f"failure {number}"})
    seen = stored(table, mine.id)
    assert (seen.state, seen.failures, seen.error) == ("failed", 3, {**ERROR, "said": "failure 2"})
    assert leases.claim("w") is None


def test_a_failed_job_waits_before_its_next_try_unless_it_is_no_use(
    table: JobTable, leases: Leases, storage: str
) -> None:
    first, second = table.submit([job(storage), job(storage)])
    leases.fail(claimed(leases), ERROR)
    assert stored(table, first.id).state == "queued"
    leases.fail(claimed(leases), ERROR, is_final=True)
    assert stored(table, second.id).state == "failed"
    assert leases.claim("w") is None


def test_the_tenth_death_of_a_worker_makes_a_job_fail(
    table: JobTable, database: Database, storage: str
) -> None:
    (handed_in,) = table.submit([job(storage)])
    leases = Leases(database, storage, OVER)
    for _ in range(MOST_DEATHS):
        claimed(leases)
    assert stored(table, handed_in.id).failures == 0
    assert leases.claim("w") is None
    seen = stored(table, handed_in.id)
    assert (seen.state, seen.deaths) == ("failed", MOST_DEATHS)
    assert seen.error is not None
    assert "died 10 times" in seen.error["said"]


def test_a_job_that_loses_worker_after_worker_lets_the_others_go_first(
    table: JobTable, database: Database, storage: str
) -> None:
    first, second = table.submit([job(storage), job(storage)])
    leases = Leases(database, storage, OVER)
    claims = [claimed(leases) for _ in range(5)]
    assert [(one.id, one.deaths) for one in claims] == [
        *[(first.id, deaths) for deaths in range(4)],
        (second.id, 0),
    ]


def moved(jobs_url: str | None, folder: Path, seconds: float) -> Database:
    """The same database after its clock was moved."""
    dialect = Postgresql(jobs_url) if jobs_url else Sqlite(folder / "jobs.sqlite")
    dialect.clock = f"({dialect.clock} + {seconds})"
    return Database(dialect)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_clock_that_is_moved_by_an_hour_strands_no_job(
    jobs_url: str | None, tmp_path: Path, storage: str, seconds: float
) -> None:
    before = open_database(jobs_url, tmp_path)
    after = moved(jobs_url, tmp_path, seconds)
    table, terms = JobTable(before), LeaseTerms(retry_seconds=60)
    failed, died = table.submit([job(storage), job(storage)])
    leases = Leases(before, storage, terms)
    leases.fail(claimed(leases), ERROR)
    first = claimed(leases)
    later = Leases(after, storage, terms)
    taken = [claimed(later), claimed(later)]
    assert [one.id for one in taken] == [failed.id, died.id]
    with pytest.raises(LeaseLostError):
        leases.finish(first, RESULT)
    for one in taken:
        assert later.renew(one, JobProgress(1)) == "running"
        later.finish(one, RESULT)
    assert table.counts()["done"] == 2
    before.close()
    after.close()


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose files are in memory, where there is such a thing: synced at once."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.mark.slow
def test_of_two_claimers_never_both_get_the_job(jobs_url: str | None, memory_folder: Path) -> None:
    rounds, terms = 1000, LeaseTerms(seconds=3600)
    start = Barrier(2)

    def claims() -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        with closing(open_database(jobs_url, memory_folder)) as database:
            leases = Leases(database, "here", terms)
            start.wait()
            while len(found) < rounds:
                with suppress(DatabaseUnavailableError):  # the other one was always faster
                    mine = leases.claim("w")
                    if mine is None:
                        break
                    found.append((mine.id, mine.token))
        return found

    with closing(open_database(jobs_url, memory_folder)) as database:
        JobTable(database).submit(job("here") for _ in range(rounds))

    with ThreadPoolExecutor(2) as threads:
        one, two = (task.result() for task in [threads.submit(claims) for _ in range(2)])
    assert len({*one, *two}) == len(one) + len(two) == rounds
    assert {token for _, token in (*one, *two)} == {1}
