"""Label the documents of a file with a model of the store."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.cluster import Cluster, check_cluster, on_cluster_for_now
from app.cli.completion import decisions
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.reading import takes_reading_options
from app.cli.predicting.partitions import predict_partitions
from app.cli.predicting.tables import predictions, separator_of, write_predictions
from app.cli.predicting.written_partition import PredictionJob
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, stored_model
from app.cli.terminal import command, err, progress_bars, write_json
from app.datasets.base import ReadOptions
from app.datasets.cells.label_separator import DEFAULT
from app.datasets.input.part_files import files_of
from app.datasets.reading import Reading, open_data
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.model import Model
from app.prediction.answers import Prediction
from app.prediction.offline import refuse_batch_rule
from app.prediction.query import Query
from app.prediction.tables.added_cells import NO_ANCESTORS
from app.prediction.tables.partitions import claim, partitions
from app.prediction.tables.table_file import table_writer

STANDARD_OUTPUT = Path("-")
NOT_BY_FILE = "--cluster predicts file by file; accepted: with --output DIR"

app = command(
    "Write the labels of every document as JSON lines, as POST /predict gives them, or a table: "
    "the data's own columns with the labels beside them."
)

EXAMPLES = examples(
    "demo new.jsonl > labelled.jsonl",
    "demo mails.csv --text-columns subject,body --output labelled.xlsx",
    "demo 'new/*.parquet' --output labelled/",
    "demo 'new/*.parquet' --output labelled/ --cluster tcp://scheduler:8786",
    "demo new.txt --operating-point 'precision>=0.9' --explain 3",
    "demo@20261115T120000-1f3c9a new.jsonl.gz --labels refund --labels billing",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    model: ModelArgument,
    input: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="Documents: a file, a folder, 'a glob', a URL, or - for stdin."
        ),
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
            "probabilities, reasons, review; DIR: so for each file of INPUT, those that are "
            "finished are skipped; - for JSON lines on standard output."
        ),
    ] = STANDARD_OUTPUT,
    jobs: Annotated[
        int, typer.Option(help="Files at a time where --output is a folder; 0: a core each.", min=0)
    ] = 0,
    cluster: Cluster = None,
    models_dir: ModelsDir = MODELS,
    json: Annotated[Path | None, typer.Option("--json", help="Write a summary as JSON.")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write one JSON line a document to standard output, or a table to a file."""
    is_table = output != STANDARD_OUTPUT
    if is_table and ancestors:
        raise InvalidRequestError(NO_ANCESTORS)
    check_cluster(cluster)
    if cluster is not None and not (is_table and _is_folder(output)):
        raise InvalidRequestError(NOT_BY_FILE)
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
    if is_table and not _is_folder(output):
        table_writer(output)
    found = stored_model(models_dir, model)
    how = _for_prediction(reading, is_table)
    if _is_folder(output):
        chosen = f"{found.name}@{found.version}"
        job = PredictionJob(models_dir, chosen, query, how, reading.label_separator)
        where = cluster or jobs or os.cpu_count() or 1
        counts = _write_partitions(job, found, (input, output), where)
    else:
        separator = separator_of(output, found, reading.label_separator) if is_table else ""
        documents = open_data(input, how)
        if is_table:
            _write_table(output, documents, (found, query), separator)
        else:
            _write_lines(predictions(documents, found, query))
        counts = {"documents": documents.summary.documents, "skipped": documents.summary.skipped}
    write_json(json, {"model": found.name, "version": found.version, **counts})


def _is_folder(output: Path) -> bool:
    """Whether predictions go to a folder, a file for each of the data's."""
    return output != STANDARD_OUTPUT and (output.is_dir() or not output.suffix)


def _for_prediction(reading: ReadOptions, is_table: bool) -> ReadOptions:
    """The options; labels of the data need not be understood where they are given back as such."""
    if not is_table:
        return replace(reading, labels="optional")
    if reading.unlabelled == "drop":
        raise InvalidRequestError("a table has all its rows: --unlabelled drop is not for --output")
    return replace(
        reading, labels="ignored", label_columns=(), label_separator=DEFAULT, keeps_cells=True
    )


def _write_lines(predictions: Iterable[Prediction]) -> None:
    for prediction in predictions:
        sys.stdout.buffer.write(msgspec.json.encode(prediction) + b"\n")
    sys.stdout.buffer.flush()


def _write_table(
    path: Path, documents: Reading, asked: tuple[Model, Query], separator: str
) -> None:
    with progress_bars() as progress:
        written = write_predictions(path, documents, *asked, separator=separator, progress=progress)
    skipped = documents.summary.skipped
    left_out = f", {skipped:,} of them not read: see the column review" if skipped else ""
    err.print(f"{path}: {written.rows:,} rows{left_out}", markup=False, soft_wrap=True)
    _show_notes(written.notes)


def _write_partitions(
    job: PredictionJob, model: Model, names: tuple[str, Path], where: int | str
) -> dict[str, int]:
    """Predict what is not finished yet, in processes or on a cluster, and say how much was."""
    data, folder = names
    files = files_of(data, job.reading.format)
    found = partitions(files, folder)
    for suffix in {each.output.suffix for each in found}:
        separator_of(Path(f"x{suffix}"), model, job.label_separator)
    refuse_batch_rule(job.query)
    claim(folder, job.model, job.query, replace(job.reading, label_separator=job.label_separator))
    todo = [each for each in found if not each.is_done]
    address, jobs = (where, 1) if isinstance(where, str) else (None, where)
    address = address if todo else None
    with on_cluster_for_now(address, folder) as engine, progress_bars() as progress:
        written = predict_partitions(job, todo, engine or jobs, progress)
    rows, skipped = sum(each.rows for each in written), sum(each.skipped for each in written)
    n_before = len(found) - len(todo)
    before = f", {n_before:,} were there already" if n_before else ""
    left_out = f", {skipped:,} of them not read: see the column review" if skipped else ""
    said = f"{folder}: {len(written):,} files, {rows:,} rows{left_out}{before}"
    err.print(said, markup=False, soft_wrap=True)
    _show_notes([f"{each.output}: {note}" for each in written for note in each.notes])
    counts = {"documents": rows - skipped, "skipped": skipped}
    return {**counts, "files": len(written), "files_before": n_before}


def _show_notes(notes: list[str]) -> None:
    for note in notes:
        err.print(f"warning: {note}", style="yellow", markup=False, soft_wrap=True)
