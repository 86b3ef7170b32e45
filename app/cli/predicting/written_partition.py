"""One file of the data → the file of its predictions: what a process or a worker does."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from app.cli.predicting.tables import separator_of, write_predictions
from app.datasets.base import ReadOptions
from app.datasets.reading import open_parts
from app.errors import AppError
from app.model import Model
from app.prediction.query import Query
from app.prediction.tables.partitions import Partition


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


def write_partition(job: PredictionJob, model: Model, partition: Partition) -> WrittenPartition:
    """Write the predictions of one file."""
    output = partition.output
    try:
        documents = open_parts([partition.file], job.reading)
        output.parent.mkdir(parents=True, exist_ok=True)
        separator = separator_of(output, model, job.label_separator)
        written = write_predictions(output, documents, model, job.query, separator=separator)
    except AppError as error:
        return WrittenPartition(output, error=str(error))
    except OSError as error:
        return WrittenPartition(output, error=f"{error.filename or output}: {error.strerror}")
    return WrittenPartition(output, written.rows, documents.summary.skipped, tuple(written.notes))
