"""Label the documents of a file with a model of the store."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.completion import decisions
from app.cli.examples import CommandWithExamples, examples
from app.cli.reading_options import takes_reading_options
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, stored_model
from app.cli.terminal import command, err, progress_bars, write_json
from app.datasets.base import ReadOptions
from app.datasets.cells.label_separator import joining
from app.datasets.reading import Reading, open_data
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.explanation import explain as explain_
from app.prediction.answers import Prediction
from app.prediction.offline import FileQuery, file_predictions
from app.prediction.query import Query
from app.prediction.tables.added_cells import NO_ANCESTORS, check_separator
from app.prediction.tables.base import TableRow
from app.prediction.tables.rows import doubt_of, table_rows
from app.prediction.tables.table_file import table_writer, write_table

STANDARD_OUTPUT = Path("-")

app = command(
    "Write the labels of every document as JSON lines, as POST /predict gives them, or a table: "
    "the data's own columns with the labels beside them."
)

EXAMPLES = examples(
    "demo new.jsonl > labelled.jsonl",
    "demo mails.csv --text-columns subject,body --output labelled.xlsx",
    "demo new.txt --operating-point 'precision>=0.9' --explain 3",
    "demo@20261115T120000-1f3c9a new.jsonl.gz --labels refund --labels billing",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    model: ModelArgument,
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="Documents: a file, a folder, or - for stdin.")
    ],
    top_k: Annotated[int | None, typer.Option(help="At most so many labels.", min=1)] = None,
    threshold: Annotated[float | None, typer.Option(help="One cut on the score.")] = None,
    min_probability: Annotated[
        float | None, typer.Option(help="One cut on the probability.", min=0, max=1)
    ] = None,
    operating_point: Annotated[
        str | None,
        typer.Option(
            help=f"One of: {accepted(Use.FILE_PREDICTION)}.",
            autocompletion=decisions(Use.FILE_PREDICTION),
        ),
    ] = None,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Take the nearest point where that is unattainable.")
    ] = False,
    labels: Annotated[
        list[str] | None, typer.Option(help="Only this label may come; may be repeated.")
    ] = None,
    explain: Annotated[
        int | None, typer.Option(help="Terms to explain a label by.", min=1, max=100)
    ] = None,
    ancestors: Annotated[
        bool, typer.Option("--ancestors", help="Give the labels above each, by the labels file.")
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            help="FILE.csv, .xlsx, .parquet or .jsonl: the data's own columns, then labels, "
            "probabilities, reasons, review; - for JSON lines on standard output."
        ),
    ] = STANDARD_OUTPUT,
    models_dir: ModelsDir = MODELS,
    json: Annotated[Path | None, typer.Option("--json", help="Write a summary as JSON.")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write one JSON line a document to standard output, or a table to a file."""
    is_table = output != STANDARD_OUTPUT
    writer = table_writer(output) if is_table else None
    found = stored_model(models_dir, model)
    if is_table and ancestors:
        raise InvalidRequestError(NO_ANCESTORS)
    if writer is not None and writer.joins_labels:
        check_separator(joining(reading.label_separator), found.classifier.labels.names)
    documents = open_data(input, _for_prediction(reading, is_table))
    only = tuple(labels) if labels else None
    query = Query(
        top_k,
        operating_point,
        threshold,
        min_probability,
        only,
        explain,
        nearest,
        ancestors,
        marks_doubt=is_table,
    )
    frequencies = found.training_counts / max(found.manifest.data.counts["documents"], 1)
    asked = FileQuery(query, frequencies, explain_)
    predict = partial(file_predictions, asked, found.classifier)
    if is_table:
        doubt = doubt_of(query, found.classifier)
        _write_table(output, documents, table_rows(documents, predict, doubt))
    else:
        _write_lines(predict(documents))
    summary = documents.summary
    write_json(
        json,
        {
            "model": found.name,
            "version": found.version,
            "documents": summary.documents,
            "skipped": summary.skipped,
        },
    )


def _for_prediction(reading: ReadOptions, is_table: bool) -> ReadOptions:
    """The options; labels of the data need not be understood where they are given back as such."""
    if not is_table:
        return replace(reading, labels="optional")
    if reading.unlabelled == "drop":
        raise InvalidRequestError("a table has all its rows: --unlabelled drop is not for --output")
    separator = joining(reading.label_separator)
    return replace(
        reading, labels="ignored", label_columns=(), label_separator=separator, keeps_cells=True
    )


def _write_lines(predictions: Iterable[Prediction]) -> None:
    for prediction in predictions:
        sys.stdout.buffer.write(msgspec.json.encode(prediction) + b"\n")
    sys.stdout.buffer.flush()


def _write_table(path: Path, documents: Reading, rows: Iterator[TableRow]) -> None:
    separator = documents.options.label_separator
    with progress_bars() as progress:
        written = write_table(path, documents, rows, separator=separator, progress=progress)
    skipped = documents.summary.skipped
    left_out = f", {skipped:,} of them not read: see the column review" if skipped else ""
    err.print(f"{path}: {written.rows:,} rows{left_out}", markup=False, soft_wrap=True)
    for note in written.notes:
        err.print(f"warning: {note}", style="yellow", markup=False, soft_wrap=True)
