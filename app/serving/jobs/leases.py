"""Leases: a worker has a job for a while, and only its latest claim may write.

A claim raises the job's token. Every later write names the token that it was claimed with, and
changes nothing where the job has another one by now, or has ended. Whether a lease is over is
decided by the database's clock, so that no two hosts' clocks are compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import LeaseLostError
from app.serving.jobs import statements
from app.serving.jobs.database import Database
from app.serving.jobs.job import Job, JobProgress, State, encoded

MOST_FAILURES = 3
MOST_DEATHS = 10
DIED_TOO_OFTEN = {
    "error": "EvaluationCrashedError",
    "said": f"its worker died {MOST_DEATHS} times while it ran; the log of the system may say why",
}


@dataclass(frozen=True)
class LeaseTerms:
    """How long a lease lasts, how often it is renewed, and the pauses after a job's failures."""

    seconds: float = 30.0
    renew_seconds: float = 10.0
    retry_seconds: float = 5.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after so many failures; twice as long each time."""
        return self.retry_seconds * 2.0 ** (failures - 1)

    @property
    def longest_pause(self) -> float:
        """No job waits longer between two tries."""
        return self.pause(MOST_FAILURES)


@dataclass(frozen=True)
class JobResult:
    """What a finished try says in the table; the report itself lies in its folder."""

    data: str
    documents: int
    headline: Mapping[str, Any]
    bytes: int


class Leases:
    """What a worker does with jobs whose uploads are in its data folder."""

    def __init__(self, database: Database, storage: str, terms: LeaseTerms | None = None) -> None:
        self._database, self._storage, self.terms = database, storage, terms or LeaseTerms()

    def claim(self, worker: str) -> Job | None:
        """The oldest job that is ready, now this worker's; None where there is none.

        A job whose lease is over is ready again: its worker is taken to have died. The tenth time
        makes it fail, so that one that kills its workers does not do so for ever.
        """
        ready = {
            "storage": self._storage,
            "lease": self.terms.seconds,
            "longest_pause": self.terms.longest_pause,
            "most_deaths": MOST_DEATHS,
        }
        # Whether there is anything to do is only read, which no other process waits for.
        while found := self._database.rows(statements.NEXT, **ready):
            if found[0]["is_hopeless"]:
                self._database.rows(statements.GIVE_UP, error=encoded(DIED_TOO_OFTEN), **ready)
            else:
                rows = self._database.rows(statements.CLAIM, worker=worker, **ready)
                return Job.from_row(rows[0]) if rows else None
        return None

    def renew(self, job: Job, progress: JobProgress) -> State:
        """`running`, or `cancelled` where somebody cancelled it; else LeaseLostError."""
        lease = self.terms.seconds
        values = {"lease": lease, "done": progress.done, "expected": progress.expected}
        if self._written(statements.RENEW, job, values):
            return "running"
        return self._state_now(job, "cancelled")

    def look(self, job: Job) -> State:
        """The same as `renew` says, without writing anything."""
        return self._state_now(job, "running", "cancelled")

    def finish(self, job: Job, result: JobResult) -> None:
        """The job is done; its results are in the folder of its token."""
        values = {
            "data": result.data,
            "documents": result.documents,
            "headline": encoded(result.headline),
            "bytes": result.bytes,
        }
        self._write(statements.FINISH, job, values, "done")

    def fail(self, job: Job, error: Mapping[str, Any], *, is_final: bool = False) -> None:
        """The job failed by itself: it is tried again after a pause, unless that is no use."""
        values: dict[str, Any] = {"error": encoded(error)}
        failures = job.failures + 1
        if is_final or failures >= MOST_FAILURES:
            self._write(statements.FAIL, job, values, "failed")
        else:
            values |= {"failed": 1, "pause": self.terms.pause(failures)}
            self._write(statements.TRY_AGAIN, job, values, "queued")

    def release(self, job: Job) -> None:
        """The job waits again, as if it had not been claimed: its worker has to stop."""
        values = {"failed": 0, "pause": 0.0, "error": None}
        self._write(statements.TRY_AGAIN, job, values, "queued")

    def _write(self, statement: str, job: Job, values: Mapping[str, Any], wanted: State) -> None:
        """Write, unless the same was written before: the answer of the database may get lost."""
        if not self._written(statement, job, values):
            self._state_now(job, wanted)

    def _written(self, statement: str, job: Job, values: Mapping[str, Any]) -> bool:
        return bool(self._database.rows(statement, id=job.id, token=job.token, **values))

    def _state_now(self, job: Job, *wanted: State) -> State:
        """The state of this try; LeaseLostError where it is none of these, or another has begun."""
        rows = self._database.rows(statements.STATE_OF_TRY, id=job.id, token=job.token)
        state: State | None = rows[0]["state"] if rows else None
        if state is None or state not in wanted:
            raise LeaseLostError(f"this try of the evaluation does not count: {state or 'taken'}")
        return state
