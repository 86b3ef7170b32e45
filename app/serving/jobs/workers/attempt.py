"""One try of a job: its report, its page and what is kept of its documents, in a folder of its own.

This and what it imports is needed by a worker that has something to do, and by no other.
"""

import json
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.artifacts.folders import write_file
from app.errors import (
    AppError,
    DeadlineError,
    InvalidDataError,
    InvalidRequestError,
    MalformedBodyError,
    PayloadTooLargeError,
    UnattainableError,
    UnsupportedMediaTypeError,
)
from app.evaluation.report.headline_figures import headline_figures
from app.evaluation.report.page import page
from app.serving.admission import Deadline
from app.serving.evaluating import EvaluationFigures, EvaluationJob, evaluated, report_of
from app.serving.jobs.folders import make_results_folder, results_folder, sync_results
from app.serving.jobs.job import Job
from app.serving.jobs.job_options import options_of, reading_of
from app.serving.jobs.leases import JobResult
from app.serving.jobs.uploads import UploadStore
from app.serving.jobs.workers.progress_file import ProgressFile
from app.serving.jobs.workers.worker_options import WorkerOptions

REPORT, REPORT_PAGE = "report.json", "report.html"
SAME_AGAIN = (
    InvalidDataError,
    InvalidRequestError,
    UnattainableError,
    MalformedBodyError,
    PayloadTooLargeError,
    UnsupportedMediaTypeError,
    DeadlineError,
)
"""Errors that another try would end with as well."""


@dataclass(frozen=True)
class StoredEvaluation(EvaluationJob):
    """An evaluation whose report stays on disk; the process answers with its main figures."""

    results: Path

    def content(self) -> dict[str, Any]:
        """Write the results through to the disk; what the job's row says of them."""
        make_results_folder(self.results)
        options = replace(self.options, keep=self.results)
        with ProgressFile(self.folder) as progress:
            report = report_of(replace(self, options=options), progress.show)
        content = report.as_dict()
        encoded = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        write_file(self.results / REPORT, encoded)
        write_file(self.results / REPORT_PAGE, page(report).encode())
        sync_results(self.results)
        data, seconds = content["data"], content["seconds"]
        return {"data": data, "seconds": seconds, "headline": headline_figures(content)}

    def figures_of(self, content: dict[str, Any]) -> EvaluationFigures:
        """How many documents there were."""
        return EvaluationFigures(content["data"]["documents"], content["seconds"])


class Attempt:
    """A try of a job that was claimed; its folder bears the number of the try."""

    def __init__(self, job: Job, options: WorkerOptions, scratch: Path) -> None:
        self._job, self._options, self._scratch = job, options, scratch
        self._results = results_folder(options.data_dir, job.id, job.token)

    async def result(self, left: Callable[[], Awaitable[None]]) -> JobResult:
        """What the row is to say; the results are on the disk then, or removed again.

        `left()` ends with an error when the try is not wanted any more, which is raised then.
        """
        deadline = Deadline.after(self._options.evaluate_seconds)
        try:
            found = await evaluated(self._evaluation(), deadline, left())
        except BaseException:
            self.remove()
            raise
        content = json.loads(b"".join(found.pieces))
        data, headline = content["data"], content["headline"]
        size = sum(path.stat().st_size for path in self._results.iterdir())
        return JobResult(data["sha256"], data["documents"], headline, size)

    def remove(self) -> None:
        """Remove what the try has written: it does not count."""
        shutil.rmtree(self._results, ignore_errors=True)

    def _evaluation(self) -> StoredEvaluation:
        job, options = self._job, self._options
        return StoredEvaluation(
            models_dir=options.models_dir,
            reference=f"{job.model}@{job.version}",
            file=UploadStore(options.data_dir).path(job.upload),
            folder=self._scratch,
            reading=reading_of(job.reading, options.max_upload_bytes),
            options=options_of(job.options),
            results=self._results,
        )


def is_final(error: AppError) -> bool:
    """Whether another try would end with the same error."""
    return isinstance(error, SAME_AGAIN)
