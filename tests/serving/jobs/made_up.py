"""Jobs and test sets to hand in."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.serving.jobs.job import Job
from app.serving.jobs.leases import JobResult
from tests.conftest import write_corpus

DATA = "d" * 64
UPLOAD = "a" * 64
RESULT = JobResult(data=DATA, documents=3, headline={"micro.f1": 0.5}, bytes=100)
ERROR = {"error": "EvaluationCrashedError", "said": "it crashed"}


def job(storage: str, **values: Any) -> Job:
    defaults = {"model": "tiny", "version": "v1", "upload": UPLOAD, "reading": {}, "options": {}}
    return Job(storage=storage, **{**defaults, **values})


def corpus(n_documents: int, seed: int = 0) -> bytes:
    with TemporaryDirectory() as folder:
        return write_corpus(Path(folder) / "corpus", n_documents, seed).read_bytes()
