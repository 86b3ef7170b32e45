"""JobTable: jobs handed in, looked up, listed, cancelled and deleted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.errors import InvalidRequestError
from app.serving.jobs import statements
from app.serving.jobs.database import Database, Run
from app.serving.jobs.job import STATES, Job, State

PAGE = 100
TIE = 1e-6
"""Seconds between jobs that are handed in at the same time, so that they keep their order."""
TICK = 0.002
"""Seconds within which a database's clock may not move: SQLite's counts milliseconds."""


@dataclass(frozen=True)
class JobFilter:
    """Which jobs are listed: those that have every value that is not None."""

    model: str | None = None
    data: str | None = None
    upload: str | None = None
    batch: str | None = None
    state: State | None = None
    models: Sequence[str] | None = None
    """The only models whose jobs may be seen."""

    def conditions(self) -> tuple[list[str], dict[str, Any]]:
        """The conditions of a WHERE clause, and the values of their parameters."""
        names = ("model", "data", "upload", "batch", "state")
        values = {name: value for name in names if (value := getattr(self, name)) is not None}
        conditions = [f"{name} = :{name}" for name in values]
        if self.models is not None:
            allowed = {f"model_{n}": model for n, model in enumerate(self.models)}
            conditions.append(f"model IN ({', '.join(f':{name}' for name in allowed) or 'NULL'})")
            values |= allowed
        return conditions, values


@dataclass(frozen=True)
class JobPage:
    """Jobs, the newest first, and where the next page begins; None after the last."""

    jobs: list[Job]
    cursor: str | None


class JobTable:
    """What is done with jobs from outside; `Leases` has what their workers do."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, jobs: Iterable[Job]) -> list[Job]:
        """The jobs as they were stored, all or none, in the order in which they will be tried."""
        with self._database.transaction() as run:
            first = _after_the_last(run)
            rows = [
                run(statements.INSERT, **_storable(replace(job, created=first + place * TIE)).row())
                for place, job in enumerate(jobs)
            ]
        return [Job.from_row(row) for (row,) in rows]

    def get(self, id: str) -> Job | None:
        """The job of this id; None where there is none."""
        return self._one(statements.GET, id=id)

    def page(
        self, wanted: JobFilter | None = None, cursor: str | None = None, *, limit: int = PAGE
    ) -> JobPage:
        """Jobs that pass the filter, the newest first."""
        conditions, values = (wanted or JobFilter()).conditions()
        if cursor is not None:
            conditions.append("(created, id) < (:created, :id)")
            values |= _position(cursor)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        statement = f"SELECT * FROM {{jobs}} {where} ORDER BY created DESC, id DESC LIMIT :limit"
        rows = self._database.rows(statement, limit=limit + 1, **values)
        jobs = [Job.from_row(row) for row in rows[:limit]]
        return JobPage(jobs, _cursor(jobs[-1]) if len(rows) > limit else None)

    def cancel(self, id: str) -> Job | None:
        """The job, cancelled unless it had ended; its worker sees that at the next renewal."""
        return self._one(statements.CANCEL, id=id) or self.get(id)

    def update(self, id: str, *, pinned: bool | None = None, note: str | None = None) -> Job | None:
        """The job with what is not None changed; None where there is no such job."""
        is_pinned = None if pinned is None else int(pinned)
        said = None if note is None else _plain(note)
        return self._one(statements.UPDATE, id=id, pinned=is_pinned, note=said)

    def delete(self, id: str) -> bool:
        """Whether the job was there, had ended, and is gone now."""
        return bool(self._database.rows(statements.DELETE, id=id))

    def upload_in_use(self, upload: str, storage: str) -> bool:
        """Whether a job of this data folder still needs the upload."""
        return bool(self._database.rows(statements.UPLOAD_IN_USE, upload=upload, storage=storage))

    def counts(self) -> dict[State, int]:
        """How many jobs are in each state."""
        found = {row["state"]: row["number"] for row in self._database.rows(statements.COUNTS)}
        return {state: found.get(state, 0) for state in STATES}

    def oldest_queued_seconds(self) -> float:
        """How long the oldest job that waits has waited; 0 where none does."""
        return max(0.0, self._database.rows(statements.OLDEST)[0]["age"] or 0.0)

    def models(self) -> list[str]:
        """The names of all models that jobs have, sorted."""
        return [row["model"] for row in self._database.rows(statements.MODELS)]

    def _one(self, statement: str, **values: Any) -> Job | None:
        rows = self._database.rows(statement, **values)
        return Job.from_row(rows[0]) if rows else None


def _after_the_last(run: Run) -> float:
    """Seconds from now at which a new job comes after those of the clock's last tick."""
    ahead = run(statements.NEWEST)[0]["ahead"]
    is_same_tick = ahead is not None and -TIE < ahead < TICK
    return ahead + TIE if is_same_tick else 0.0


def _storable(job: Job) -> Job:
    return replace(job, name=_plain(job.name), note=_plain(job.note), batch=job.batch or job.id)


def _plain(text: str) -> str:
    """The text without what PostgreSQL does not store: NUL, and half a surrogate pair."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def _cursor(job: Job) -> str:
    return f"{job.created!r}-{job.id}"


def _position(cursor: str) -> dict[str, Any]:
    created, _, id = cursor.partition("-")
    try:
        return {"created": float(created), "id": id}
    except ValueError:
        raise InvalidRequestError("cursor is what the page before gave") from None
