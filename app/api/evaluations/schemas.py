"""What is answered about evaluations, as the OpenAPI document has it."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from app.api.errors import problem_of
from app.serving.evaluating import revived
from app.serving.jobs.job import Job, State

LONGEST_NOTE = 2000


class EvaluationProgress(BaseModel):
    """How far an evaluation is; what is not known yet is null."""

    documents: int
    expected: int | None
    seconds_left: float | None


class Evaluation(BaseModel):
    """An evaluation that was handed in. `figures` are the main ones of its report, once done."""

    id: str
    batch: str
    state: State
    model: str
    version: str
    data: str | None
    upload: str
    name: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    progress: EvaluationProgress
    error: dict[str, Any] | None
    figures: dict[str, float | None] | None
    pinned: bool
    note: str
    bytes: int
    options: dict[str, Any]

    @classmethod
    def of(cls, job: Job) -> "Evaluation":
        """What is said of a job."""
        return cls(
            id=job.id,
            batch=job.batch,
            state=job.state,
            model=job.model,
            version=job.version,
            data=job.data,
            upload=job.upload,
            name=job.name,
            created=_time(job.created),
            started=None if job.started is None else _time(job.started),
            finished=None if job.finished is None else _time(job.finished),
            progress=_progress(job),
            error=None if job.state != "failed" else _problem(job),
            figures=None if job.headline is None else dict(job.headline),
            pinned=job.pinned,
            note=job.note,
            bytes=job.bytes,
            options={**job.reading, **job.options, "keep": job.keep},
        )


class EvaluationBatch(BaseModel):
    """The evaluations that a request handed in: one for every file and model."""

    evaluations: list[Evaluation]


class EvaluationPage(BaseModel):
    """Evaluations, the newest first; `cursor` asks for the next page."""

    evaluations: list[Evaluation]
    cursor: str | None


class EvaluationChange(BaseModel):
    """What may be changed of an evaluation: retention leaves pinned ones alone."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    pinned: bool | None = None
    note: str | None = Field(None, max_length=LONGEST_NOTE)


class DataCheck(BaseModel):
    """What was read of a file, and what the models make of it."""

    name: str
    format: str
    documents: int
    labelled: int
    unlabelled: int
    labels: int
    unknown_labels: list[str]
    n_unknown_labels: int
    duplicates: int
    seen_in_training: dict[str, int]
    ids: list[str]
    data: str
    upload: str
    skipped: int
    warnings: list[str]


class DataChecks(BaseModel):
    """What was read of each file; nothing was evaluated."""

    checks: list[DataCheck]


class StoredUpload(BaseModel):
    """A file that can be evaluated by its SHA-256."""

    upload: str
    bytes: int


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _progress(job: Job) -> EvaluationProgress:
    done, expected = job.documents_done, job.documents_expected
    left = None
    if job.state == "running" and job.started is not None and done and expected is not None:
        elapsed = max(0.0, time.time() - job.started)
        left = round(elapsed * max(0, expected - done) / done, 1)
    return EvaluationProgress(documents=done, expected=expected, seconds_left=left)


def _problem(job: Job) -> dict[str, Any]:
    """The problem that `POST /evaluate` would have answered with."""
    content: Mapping[str, Any] = job.error or {}
    found: dict[str, Any] = msgspec.to_builtins(problem_of(revived(dict(content)), job.id))
    del found["request_id"]
    return found
