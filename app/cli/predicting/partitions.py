"""Predictions for many files, in processes: each file of the data becomes one of predictions."""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process

from app.artifacts.store import Store
from app.cli.predicting.partition_tasks import PartitionTasks
from app.cli.predicting.written_partition import PredictionJob, WrittenPartition, write_partition
from app.engine import Engine
from app.errors import InvalidDataError
from app.model import Model, load_model
from app.prediction.tables.partitions import Partition
from app.progress import Progress
from app.serving.parent_watch import when_parent_ends

DIED = (
    "a process that predicted ended before its time (too little memory?); finished files are kept: "
    "run the same command again, with fewer --jobs"
)


class _Process:
    """What a process keeps between its files: the model is loaded once."""

    job: PredictionJob
    model: Model


def predict_partitions(
    job: PredictionJob, todo: list[Partition], where: int | Engine, progress: Progress
) -> list[WrittenPartition]:
    """Write the predictions of every file: in so many processes at a time, or on an engine.

    The first error ends it; files that are finished by then stay.
    """
    written: list[WrittenPartition] = []
    with _results(job, todo, where) as results:
        for result in results:
            if result.error:
                raise InvalidDataError(result.error)
            written.append(result)
            progress("predict", len(written), len(todo))
    return written


@contextmanager
def _results(
    job: PredictionJob, todo: list[Partition], where: int | Engine
) -> Iterator[Iterator[WrittenPartition]]:
    if not isinstance(where, int):
        yield _by_workers(PartitionTasks.of(job, todo), where)
        return
    n_processes = min(where, len(todo))
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


def _by_workers(work: PartitionTasks, engine: Engine) -> Iterator[WrittenPartition]:
    tasks = [(number,) for number in range(len(work.files))]
    for task, arrays in zip(tasks, engine.map(work, tasks), strict=True):
        yield work.written(task, arrays)


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
    return write_partition(_Process.job, _Process.model, partition)
