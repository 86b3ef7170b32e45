"""EvaluationArchive: evaluations that were handed in, with their uploads and their results."""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from app.errors import ConflictError, EvaluationNotFoundError
from app.serving.jobs.database import Database, Row, open_database
from app.serving.jobs.folders import job_folder, results_folder, sqlite_file, storage_id
from app.serving.jobs.job import Job
from app.serving.jobs.job_table import JobFilter, JobPage, JobTable
from app.serving.jobs.uploads import UploadStore
from app.settings import Settings

REPORT, REPORT_PAGE = "report.json", "report.html"

ID = re.compile("[0-9a-f]{32}")

MaySee = Callable[[str], bool]
"""(model) → whether the caller may see evaluations of it."""


class EvaluationArchive:
    """What routes do with evaluations. Everything waits for a disk or a database: use a thread."""

    def __init__(self, database: Database, data_dir: Path, *, has_server: bool = False) -> None:
        self._database, self._has_server = database, has_server
        self.table, self.uploads = JobTable(database), UploadStore(data_dir)
        self._data_dir = data_dir
        self._storage: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The archive that these settings name; it is opened by its first use."""
        url, folder = settings.jobs_url, settings.data_dir
        return cls(open_database(url, folder), folder, has_server=url is not None)

    @property
    def is_begun(self) -> bool:
        """Whether there is a database: a file of its own is made by the first use of it."""
        return self._has_server or sqlite_file(self._data_dir).exists()

    @property
    def storage(self) -> str:
        """The id of this data folder."""
        if self._storage is None:  # no `cached_property`: its lock is one for all archives
            self._storage = storage_id(self._data_dir)
        return self._storage

    def submit(self, jobs: Iterable[Job], files: Mapping[str, Path | None]) -> list[Job]:
        """The jobs as they are stored, all or none.

        `files` has every upload that they refer to, by its hash: a file of the spool that is moved
        to its place, or None for one that should be there; UploadNotFoundError where it is not.
        """
        with self.uploads.held():
            for sha256, file in files.items():
                if file is None:
                    self.uploads.touch(sha256)
                else:
                    self.uploads.put(file, sha256)
            return self.table.submit(replace(job, storage=self.storage) for job in jobs)

    def get(self, id: str, may_see: MaySee) -> Job:
        """The evaluation; EvaluationNotFoundError where there is none, or none to be seen."""
        job = self.table.get(id) if ID.fullmatch(id) else None
        if job is None or not may_see(job.model):
            raise EvaluationNotFoundError
        return job

    def page(self, wanted: JobFilter, cursor: str | None, may_see: MaySee | None) -> JobPage:
        """A page of those that the caller may see; `may_see` is None for who may see all."""
        if may_see is not None:
            wanted = replace(wanted, models=list(filter(may_see, self.table.models())))
        return self.table.page(wanted, cursor)

    def update(
        self, id: str, may_see: MaySee, *, pinned: bool | None = None, note: str | None = None
    ) -> Job:
        """The evaluation with what is not None changed."""
        self.get(id, may_see)
        return _found(self.table.update(id, pinned=pinned, note=note))

    def cancel_or_remove(self, id: str, may_see: MaySee) -> Job | None:
        """The evaluation, cancelled; None where it had ended, and is gone with its results."""
        job = self.get(id, may_see)
        if not job.is_ended:
            return _found(self.table.cancel(id))
        self.remove(job.id, job.upload)
        return None

    def remove(self, id: str, upload: str) -> bool:
        """Remove an ended evaluation; False where it was gone, or has not ended.

        The row goes first: after a crash, retention finds the rest by what no row refers to. The
        same is true of files that lie with another host.
        """
        is_gone = self.table.delete(id)
        if is_gone:
            shutil.rmtree(job_folder(self._data_dir, id), ignore_errors=True)
            self.drop_upload(upload)
        return is_gone

    def drop_upload(self, sha256: str) -> bool:
        """Remove an upload that no evaluation needs any more; whether it is gone."""
        return self.uploads.remove(sha256, self.is_used)

    def is_used(self, sha256: str) -> bool:
        """Whether an evaluation still needs the upload."""
        return self.table.upload_in_use(sha256, self.storage)

    def result(self, job: Job, name: str) -> Path:
        """A file of the evaluation's results; ConflictError while there are none."""
        if job.state != "done":
            raise ConflictError(f"the evaluation is {job.state}; there is a report once it is done")
        if job.storage != self.storage:
            raise ConflictError("the report is kept by another replica, which does not share it")
        return results_folder(self._data_dir, job.id, job.token) / name

    def folders(self) -> list[Path]:
        """The folders of evaluations that were begun, in no order; nothing else is ours."""
        try:
            every = list(job_folder(self._data_dir, "").iterdir())
            return [path for path in every if ID.fullmatch(path.name) and path.is_dir()]
        except FileNotFoundError:
            return []

    def rows(self, statement: str, **values: Any) -> list[Row]:
        """The rows of a statement on the table of jobs."""
        return self._database.rows(statement, **values)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()


def _found(job: Job | None) -> Job:
    if job is None:
        raise EvaluationNotFoundError
    return job
