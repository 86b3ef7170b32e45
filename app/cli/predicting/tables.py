"""A query about the documents of one reading, answered as predictions or as a table."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from app.datasets.reading import Reading
from app.explanation import explain
from app.model import Model
from app.prediction.answers import Prediction
from app.prediction.offline import FileQuery, file_predictions
from app.prediction.query import Query
from app.prediction.tables.label_joining import label_joining
from app.prediction.tables.rows import Predict, doubt_of, table_rows
from app.prediction.tables.table_file import WrittenTable, table_writer, write_table
from app.progress import Progress, silent


def predictions(documents: Reading, model: Model, query: Query) -> Iterator[Prediction]:
    """One prediction a document, in order."""
    return _predict(model, query)(documents)


def write_predictions(
    path: Path,
    documents: Reading,
    model: Model,
    query: Query,
    *,
    separator: str,
    progress: Progress = silent,
) -> WrittenTable:
    """The data's own columns with the labels beside them, in a file that appears whole."""
    doubt = doubt_of(query, model.classifier)
    rows = table_rows(documents, _predict(model, query), doubt)
    return write_table(path, documents, rows, separator=separator, progress=progress)


def separator_of(path: Path, model: Model, asked: str) -> str:
    """What joins labels in a file; refuse a format that is not written, or cannot tell them apart.

    Nothing joins them in a format that has lists.
    """
    if not table_writer(path).joins_labels:
        return ""
    names = model.classifier.answered_labels.names
    return label_joining(asked, model.label_separator, names)


def _predict(model: Model, query: Query) -> Predict:
    frequencies = model.training_counts / max(model.manifest.data.counts["documents"], 1)
    return partial(file_predictions, FileQuery(query, frequencies, explain), model.classifier)
