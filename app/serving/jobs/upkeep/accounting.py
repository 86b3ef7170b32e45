"""Accounting: every evaluation that has ended is counted once, by whichever process takes it."""

from app import errors
from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.job import Job
from app.serving.jobs.upkeep import statements
from app.serving.keys import KeysFile
from app.serving.quotas import Quotas
from app.serving.telemetry.telemetry import Telemetry

ROUTE = "/evaluations"
SCOPE = "evaluate"


class Accounting:
    """Telemetry and quotas of evaluations, and whether their keys still count."""

    def __init__(
        self,
        archive: EvaluationArchive,
        telemetry: Telemetry,
        quotas: Quotas,
        keys: KeysFile | None,
    ) -> None:
        self._archive, self._telemetry = archive, telemetry
        self._quotas, self._keys = quotas, keys

    def count(self) -> None:
        """Show how much waits, and count what has ended since the last time."""
        counts = self._archive.table.counts()
        for state in ("queued", "running"):
            self._telemetry.evaluations.labels(state).set(counts[state])
        oldest = self._archive.table.oldest_queued_seconds()
        self._telemetry.oldest_queued.labels().set(oldest)
        for job in self._ended():
            self._count_end(job)

    def cancel_revoked(self) -> None:
        """Cancel evaluations whose key was revoked, has expired, or has lost scope or model."""
        if self._keys is None:
            return
        keys = self._keys.keys()
        identities = {key.id: key.identity for key in keys}
        for row in self._archive.rows(statements.OWNED, storage=self._archive.storage):
            owner = identities.get(row["owner"])
            if owner is None or not owner.may_still(SCOPE, row["model"]):
                self._archive.table.cancel(row["id"])

    def _ended(self) -> list[Job]:
        """Jobs that nobody has counted; who asks for them counts them."""
        storage, rows = self._archive.storage, self._archive.rows
        if not rows(statements.IS_ANY_UNCOUNTED, storage=storage):  # reading waits for nobody
            return []
        return [Job.from_row(row) for row in rows(statements.TAKE_UNCOUNTED, storage=storage)]

    def _count_end(self, job: Job) -> None:
        telemetry = self._telemetry
        if job.state == "failed":
            kind = vars(errors).get((job.error or {}).get("error", ""), errors.AppError)
            telemetry.evaluation_failures.labels(kind.code).inc()
        if job.state == "done" and job.started is not None and job.finished is not None:
            telemetry.evaluation_seconds.labels().observe(job.finished - job.started)
            telemetry.documents.labels(job.model, ROUTE).inc(job.documents_done)
            self._count_documents(job)
        if not job.keep:
            self._archive.drop_upload(job.upload)

    def _count_documents(self, job: Job) -> None:
        owners = [] if self._keys is None else self._keys.keys()
        for key in owners:
            if key.id == job.owner:
                self._quotas.add_documents(key.identity, job.documents_done)
