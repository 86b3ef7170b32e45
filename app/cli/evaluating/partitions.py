"""The report on a test set in several files, which workers or processes measure one by one."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.cli.cluster import on_cluster_for_now
from app.cli.evaluating.file_tasks import FileEvaluation, FileTasks
from app.datasets.base import ReadOptions, Summary
from app.datasets.input.part_files import FilePlace, PartFile
from app.datasets.reading import options_of_parts
from app.decisions.base import BatchRule
from app.engine import Engine
from app.engines.process_engine import ProcessEngine
from app.evaluation import EvaluationOptions, JudgedModel, Report
from app.evaluation.deciders import decider
from app.evaluation.partitions.merging import merged_report
from app.model import Model
from app.progress import Progress

LEAST_BYTES = 32_000_000
"""Of data: with less, starting processes takes longer than they save."""
SHARED = ".checkpoints"
"""In the models folder, which workers see, too."""


def is_worth_it(files: list[PartFile] | None, jobs: int) -> bool:
    """Whether processes of their own are started for the files of a test set."""
    if files is None or len(files) < 2 or jobs < 2:
        return False
    return sum(file.size or 0 for file in files) >= LEAST_BYTES


def is_by_file(model: Model, options: EvaluationOptions) -> bool:
    """Whether the decision can be made file by file: some need all scores first."""
    return not isinstance(decider(options.decision, model.classifier), BatchRule)


def report_by_file(
    model: Model,
    files: list[PartFile],
    where: tuple[Path, str | None],
    asked: tuple[ReadOptions, EvaluationOptions],
    progress: Progress,
) -> tuple[Report, Summary]:
    """The report of `evaluate`, to the byte, and how the files were read.

    `where` is the models folder and a cluster's address; without one, processes are started here.
    """
    reading = options_of_parts(files, asked[0])
    job = FileEvaluation.of(where[0], f"{model.name}@{model.version}", reading, asked[1])
    with _engine(where, asked[1].jobs) as engine:
        measured = FileTasks(job, [FilePlace.of(file) for file in files]).measured(engine)
        info = JudgedModel.of(model)
        return merged_report(model.classifier, measured, asked[1], info=info, progress=progress)


@contextmanager
def _engine(where: tuple[Path, str | None], jobs: int) -> Iterator[Engine]:
    models_dir, address = where
    if address is None:
        with tempfile.TemporaryDirectory(prefix="evaluation-") as folder:
            yield ProcessEngine(Path(folder), jobs)
        return
    shared = models_dir / SHARED
    with on_cluster_for_now(address, shared) as engine:
        assert engine is not None  # noqa: S101 - an address was given
        yield engine
    with suppress(OSError):  # of other commands something is still there
        shared.rmdir()
