"""Evaluations, each in a process of its own: killed when it is too late or nobody waits for it."""

import asyncio
import json
import logging
import os
import resource
import signal
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from app import errors
from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.errors import (
    AppError,
    DeadlineError,
    EvaluationCrashedError,
    InvalidRequestError,
    ModelNotFoundError,
    ModelUnavailableError,
    StorageFullError,
    errno_text,
)
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.run import evaluate
from app.model import Model, load_model
from app.serving.admission import Deadline
from app.serving.log_writer import log_writers
from app.serving.logs import place
from app.serving.parent_watch import when_parent_ends
from app.serving.spool import storage_errors

NICENESS = 5  # predictions come first
PRELOADED = ["app.serving.preloaded"]
STREAMED = ("tsv", "jsonl", "csv", "svmlight")
"""Formats that are read in little memory, whatever a hostile file says of itself."""
CARRIED = ("line", "best", "pointer")
NO_ROOM = 28
"""Exit code of a process that could write neither its report nor its error: ENOSPC's number."""
LEAST_SCRATCH = 1 << 30
"""Bytes that a working file may have in any case: 130 million scores of sparse rows and more."""

log = logging.getLogger("labelserve.evaluations")


@dataclass(frozen=True)
class EvaluationJob:
    """What to evaluate on what, and where; everything a new process must know."""

    models_dir: Path
    reference: str
    file: Path
    folder: Path
    reading: ReadOptions
    options: EvaluationOptions

    @property
    def result(self) -> Path:
        """Where the process writes what came of it."""
        return self.folder / "result.json"


async def evaluated(job: EvaluationJob, deadline: Deadline, left: Awaitable[None]) -> bytes:
    """The report as JSON; the process is gone when this returns or raises.

    `left` ends when the client does not wait any more; then CancelledError is raised.
    """
    process = _context().Process(target=_run, args=(job,), daemon=True)
    await asyncio.to_thread(_start, process)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    waiting = [asyncio.ensure_future(ended.wait()), asyncio.ensure_future(left)]
    loop.add_reader(process.sentinel, ended.set)
    try:
        await asyncio.wait(waiting, timeout=deadline.remaining, return_when=asyncio.FIRST_COMPLETED)
        if waiting[1].done() and not ended.is_set():
            waiting[1].result()
        if not ended.is_set():
            raise DeadlineError("the evaluation took longer than allowed")
        return await asyncio.to_thread(_read, job, process.exitcode)
    finally:
        loop.remove_reader(process.sentinel)
        for task in waiting:
            task.cancel()
        process.kill()
        await asyncio.shield(asyncio.to_thread(process.join))
        process.close()


def _start(process: ForkServerProcess) -> None:
    """Start the process so that no SIGTERM or Ctrl-C that is sent to every process ends it.

    Whether an evaluation goes on during the drain is decided here, not by systemd or a shell. What
    a thread blocks is blocked in all that it starts, from the first instruction on.
    """
    resource_tracker.ensure_running()  # whose start would unblock the signals again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def _context() -> ForkServerContext:
    """Processes forked from one that has everything imported, and nothing else."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _read(job: EvaluationJob, exit_code: int | None) -> bytes:
    if exit_code == NO_ROOM:
        raise StorageFullError("the spool cannot take the report")
    try:
        content = job.result.read_bytes()
    except FileNotFoundError:
        raise EvaluationCrashedError("the evaluating process ended without a result") from None
    if content.startswith(b'{"error":'):
        failed = json.loads(content)
        if "place" in failed:
            log.error("an evaluation failed: %s", failed["place"])
        raise _revived(failed)
    return content


def _run(job: EvaluationJob) -> None:
    """The process: write the report or the error, whole or not at all."""
    when_parent_ends(partial(os._exit, 1))
    with log_writers():  # warnings of packages wait for no reader, either
        _work(job)


def _work(job: EvaluationJob) -> None:
    os.nice(NICENESS)
    bound_files(max(LEAST_SCRATCH, job.reading.limits.max_bytes or 0))
    try:
        with storage_errors():
            content = _report(job)
    except AppError as error:
        content = _kept(error)
    except Exception as error:  # its message may hold words of the test set: only its place is told
        content = _kept(EvaluationCrashedError("the evaluation failed; the log says where"))
        content["place"] = place(error)
    try:
        _write(job, content)
    except StorageFullError:
        sys.exit(NO_ROOM)


def _write(job: EvaluationJob, content: dict[str, Any]) -> None:
    unfinished = job.result.with_suffix(".unfinished")
    with storage_errors():
        unfinished.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False))
        unfinished.rename(job.result)


def bound_files(most: int) -> None:
    """Let no file that this process writes grow beyond so many bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _report(job: EvaluationJob) -> dict[str, Any]:
    model = _model(job)
    info = JudgedModel.of(model)
    with job.file.open("rb") as file:
        documents = open_dataset(file, job.reading)
        if documents.format not in STREAMED:
            raise InvalidRequestError(f"accepted formats: {', '.join(STREAMED)}")
        report = evaluate(model.classifier, documents, job.options, info=info, scratch=job.folder)
    return report.as_dict()


def _model(job: EvaluationJob) -> Model:
    """The model, which the service has loaded; its folder may be out of reach since then."""
    try:
        return load_model(Store(job.models_dir), job.reference)
    except OSError as error:
        why = errno_text(error)
    except ModelNotFoundError:
        why = "it is not there any more"
    raise ModelUnavailableError(f"{job.reference} cannot be read to be evaluated: {why}")


def _kept(error: AppError) -> dict[str, Any]:
    said = error.without_content() if isinstance(error, errors.InvalidDataError) else str(error)
    carried = {name: getattr(error, name) for name in CARRIED if hasattr(error, name)}
    return {"error": type(error).__name__, "said": said, **carried}


def _revived(content: dict[str, Any]) -> AppError:
    """The error that `_kept` wrote down, without what it must not say over HTTP."""
    kind = getattr(errors, content["error"])
    if kind is errors.InvalidDataError:
        return errors.InvalidDataError(content["said"], line=content["line"])
    error: AppError = kind.__new__(kind)
    Exception.__init__(error, content["said"])
    for name in CARRIED:
        if name in content:
            setattr(error, name, content[name])
    return error
