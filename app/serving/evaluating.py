"""Evaluations, each in a process of its own: killed when it is too late or nobody waits for it."""

import asyncio
import json
import logging
import os
import resource
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from app import errors
from app.artifacts.store import Store
from app.catalogue import find
from app.compiling.completeness import is_wanted
from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.errors import (
    AppError,
    DeadlineError,
    EvaluationCrashedError,
    ModelNotFoundError,
    ModelUnavailableError,
    StorageFullError,
    errno_text,
)
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.report import Report
from app.kernels import postpone
from app.model import Model, load_model
from app.progress import Progress, silent
from app.serving.admission import Deadline
from app.serving.log_writer import log_writers
from app.serving.logs import place
from app.serving.parent_watch import when_parent_ends
from app.serving.spool import storage_errors
from app.serving.unsent_answers import Pieces, of_file

NICENESS = 5  # predictions come first
PRELOADED = ["app.serving.preloaded"]
STREAMED = ("tsv", "jsonl", "json", "csv", "svmlight")
"""Formats that are read in little memory, whatever a hostile file says of itself."""
RUN = {"evaluate": "app.evaluation.run:evaluate"}
"""Loaded in the process that evaluates: the service itself never does."""
CARRIED = ("line", "best", "pointer")
NO_ROOM = 28
"""Exit code of a process that could write neither its report nor its error: ENOSPC's number."""
LEAST_SCRATCH = 1 << 30
"""Bytes that a working file may have in any case: 130 million scores of sparse rows and more."""

log = logging.getLogger("labelserve.evaluations")


class ProcessJob(ABC):
    """What a new process is to find out, and the folder that it writes to."""

    folder: Path

    @property
    def result(self) -> Path:
        """Where the process writes what came of it."""
        return self.folder / "result.json"

    @property
    def figures(self) -> Path:
        """Where the process writes the figures of its report."""
        return self.folder / "figures.json"

    @property
    def most_bytes(self) -> int:
        """How long each of its files may become."""
        return LEAST_SCRATCH

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What it finds out, JSON-safe."""

    def figures_of(self, content: dict[str, Any]) -> "EvaluationFigures":
        """What telemetry wants of it."""
        return EvaluationFigures(0, {})


@dataclass(frozen=True)
class EvaluationJob(ProcessJob):
    """What to evaluate on what, and where; everything a new process must know."""

    models_dir: Path
    reference: str
    file: Path
    folder: Path
    reading: ReadOptions
    options: EvaluationOptions

    @property
    def most_bytes(self) -> int:
        """As many as the test set may have, if that is more."""
        return max(LEAST_SCRATCH, self.reading.limits.max_bytes or 0)

    def content(self) -> dict[str, Any]:
        """What the process is to find out: the report, JSON-safe."""
        return report_of(self).as_dict()

    def figures_of(self, content: dict[str, Any]) -> "EvaluationFigures":
        """The figures of such a report."""
        return EvaluationFigures(content["data"]["documents"], content["seconds"])


class EvaluationFigures(msgspec.Struct):
    """What telemetry wants of a report, which may be too long to look it up there."""

    documents: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Evaluated:
    """The report as JSON, in pieces, and its figures."""

    pieces: Pieces
    figures: EvaluationFigures


async def evaluated(job: ProcessJob, deadline: Deadline, left: Awaitable[None]) -> Evaluated:
    """The report; the process is gone when this returns or raises.

    `left` ends, with an error, when nobody waits for it any more; the error is raised then.
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
        await asyncio.gather(*waiting, return_exceptions=True)  # so that no error is left unseen
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


def _read(job: ProcessJob, exit_code: int | None) -> Evaluated:
    if exit_code == NO_ROOM:
        raise StorageFullError("the spool cannot take the report")
    try:
        pieces = of_file(job.result)
    except FileNotFoundError:
        raise EvaluationCrashedError("the evaluating process ended without a result") from None
    if pieces[0].startswith(b'{"error":'):
        failed = json.loads(b"".join(pieces))
        if "place" in failed:
            log.error("an evaluation failed: %s", failed["place"])
        raise revived(failed)
    return Evaluated(pieces, msgspec.json.decode(job.figures.read_bytes(), type=EvaluationFigures))


def _run(job: ProcessJob) -> None:
    """The process: write the report or the error, whole or not at all."""
    when_parent_ends(partial(os._exit, 1))
    with log_writers():  # warnings of packages wait for no reader, either
        _work(job)


def _work(job: ProcessJob) -> None:
    os.nice(NICENESS)
    postpone(is_wanted())  # who compiles the kernels is the service
    bound_files(job.most_bytes)
    try:
        with storage_errors():
            content = job.content()
    except AppError as error:
        content = kept_error(error)
    except Exception as error:  # its message may hold words of the test set: only its place is told
        content = kept_error(EvaluationCrashedError("the evaluation failed; the log says where"))
        content["place"] = place(error)
    try:
        _write(job, content)
    except StorageFullError:
        sys.exit(NO_ROOM)


def _write(job: ProcessJob, content: dict[str, Any]) -> None:
    unfinished = job.result.with_suffix(".unfinished")
    with storage_errors():
        if "error" not in content:
            job.figures.write_bytes(msgspec.json.encode(job.figures_of(content)))
        unfinished.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False))
        unfinished.rename(job.result)


def bound_files(most: int) -> None:
    """Let no file that this process writes grow beyond so many bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def report_of(job: EvaluationJob, progress: Progress = silent) -> Report:
    """The report of an evaluation, in the process that was started for it.

    The total that `progress` is told is estimated by the share of the file that was read.
    """
    evaluate = find(RUN, "evaluate", "task")
    model = loaded(job.models_dir, job.reference)
    info = JudgedModel.of(model)
    with job.file.open("rb") as file:
        known = set(model.classifier.labels.names)
        documents = open_dataset(file, hardened(job.reading, known))
        report: Report = evaluate(
            model.classifier,
            documents,
            job.options,
            info=info,
            progress=lambda stage, done, _: progress(stage, done, _expected(done, file)),
            scratch=job.folder,
        )
    return report


def _expected(done: int, file: BinaryIO) -> int:
    """How many documents a file will have had, after some of them."""
    if file.closed or not (position := file.tell()):
        return done
    return max(done, round(done * os.fstat(file.fileno()).st_size / position))


def hardened(reading: ReadOptions, known_labels: set[str]) -> ReadOptions:
    """How data of a client are read for a model with these labels."""
    return replace(reading, known_labels=known_labels, formats=STREAMED)


def loaded(models_dir: Path, reference: str) -> Model:
    """The model, which the service has loaded; its folder may be out of reach since then."""
    try:
        return load_model(Store(models_dir), reference)
    except OSError as error:
        why = errno_text(error)
    except ModelNotFoundError:
        why = "it is not there any more"
    raise ModelUnavailableError(f"{reference} cannot be read to be evaluated: {why}")


def kept_error(error: AppError) -> dict[str, Any]:
    """The error as JSON, without what it must not say over HTTP."""
    said = error.without_content() if isinstance(error, errors.InvalidDataError) else str(error)
    carried = {name: getattr(error, name) for name in CARRIED if hasattr(error, name)}
    return {"error": type(error).__name__, "said": said, **carried}


def revived(content: dict[str, Any]) -> AppError:
    """The error that `kept_error` wrote down, without what it must not say over HTTP."""
    kind = getattr(errors, content["error"])
    if kind is errors.InvalidDataError:
        return errors.InvalidDataError(content["said"], line=content["line"])
    error: AppError = kind.__new__(kind)
    Exception.__init__(error, content["said"])
    for name in CARRIED:
        if name in content:
            setattr(error, name, content[name])
    return error
