"""Predictions for many files, in processes: each file of the data becomes one of predictions."""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import NamedTuple

from app.artifacts.store import Store
from app.cli.predicting.tables import separator_of, write_predictions
from app.datasets.base import ReadOptions
from app.datasets.reading import open_parts
from app.errors import AppError, InvalidDataError
from app.model import Model, load_model
from app.prediction.query import Query
from app.prediction.tables.partitions import Partition
from app.progress import Progress
from app.serving.parent_watch import when_parent_ends

DIED = (
    "a process that predicted ended before its time (too little memory?); finished files are kept: "
    "run the same command again, with fewer --jobs"
)


@dataclass(frozen=True, slots=True)
class PredictionJob:
    """What every process must know."""

    models_dir: Path
    model: str
    query: Query
    reading: ReadOptions
    label_separator: str
    """As it was asked for."""


class WrittenPartition(NamedTuple):
    """What came of one file; an error as its sentence, since not every error can be sent."""

    output: Path
    rows: int = 0
    skipped: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""


class _Process:
    """What a process keeps between its files: the model is loaded once."""

    job: PredictionJob
    model: Model


def predict_partitions(
    job: PredictionJob, todo: list[Partition], *, jobs: int, progress: Progress
) -> list[WrittenPartition]:
    """Write the predictions of every file, as many at a time as there are jobs.

    The first error ends it; files that are finished by then stay.
    """
    written: list[WrittenPartition] = []
    with _results(job, todo, min(jobs, len(todo))) as results:
        for result in results:
            if result.error:
                raise InvalidDataError(result.error)
            written.append(result)
            progress("predict", len(written), len(todo))
    return written


@contextmanager
def _results(
    job: PredictionJob, todo: list[Partition], n_processes: int
) -> Iterator[Iterator[WrittenPartition]]:
    if n_processes < 2:
        _prepare(job)
        yield map(_write, todo)
        return
    # Spawned, not forked: this process may have threads.
    pool = ProcessPoolExecutor(n_processes, get_context("spawn"), _prepare, (job,))
    try:
        yield _as_they_end(pool, todo)
    except BrokenProcessPool as broken:
        raise InvalidDataError(DIED) from broken
    finally:
        pool.shutdown(cancel_futures=True)


def _as_they_end(pool: ProcessPoolExecutor, todo: list[Partition]) -> Iterator[WrittenPartition]:
    waiting: set[Future[WrittenPartition]] = {pool.submit(_write, each) for each in todo}
    while waiting:
        ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in ended:
            yield future.result()


def _prepare(job: PredictionJob) -> None:
    if parent_process() is not None:
        when_parent_ends(partial(os._exit, 1))
    _Process.job, _Process.model = job, load_model(Store(job.models_dir), job.model)


def _write(partition: Partition) -> WrittenPartition:
    job, output = _Process.job, partition.output
    try:
        documents = open_parts([partition.file], job.reading)
        output.parent.mkdir(parents=True, exist_ok=True)
        separator = separator_of(output, _Process.model, job.label_separator)
        written = write_predictions(
            output, documents, _Process.model, job.query, separator=separator
        )
    except AppError as error:
        return WrittenPartition(output, error=str(error))
    except OSError as error:
        return WrittenPartition(output, error=f"{error.filename or output}: {error.strerror}")
    return WrittenPartition(output, written.rows, documents.summary.skipped, tuple(written.notes))
