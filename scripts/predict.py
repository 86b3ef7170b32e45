"""Label the documents of a file with a model of the store."""

import installed  # noqa: F401, I001

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.artifacts.store import Store
from app.datasets.reading import open_dataset
from app.datasets.base import ReadOptions
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.explanation import explain as explain_
from app.model import load_model
from app.prediction.answers import Prediction
from app.prediction.offline import FileQuery, file_predictions
from app.prediction.query import Query
from app.cli.reading_options import takes_reading_options
from app.cli.terminal import command, run, write_json


app = command("Write the labels of every document as JSON lines, as POST /predict gives them.")


@app.command()
@takes_reading_options
def main(  # noqa: PLR0913
    model: Annotated[str, typer.Argument(help="NAME or NAME@VERSION.")],
    input: Annotated[str, typer.Argument(help="Documents: a file, a folder, or - for stdin.")],
    top_k: Annotated[int | None, typer.Option(help="At most so many labels.", min=1)] = None,
    threshold: Annotated[float | None, typer.Option(help="One cut on the score.")] = None,
    min_probability: Annotated[
        float | None, typer.Option(help="One cut on the probability.", min=0, max=1)
    ] = None,
    operating_point: Annotated[
        str | None,
        typer.Option(help=f"One of: {accepted(Use.FILE_PREDICTION)}."),
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
    models_dir: Annotated[Path, typer.Option(help="The model store.")] = Path("models"),
    json: Annotated[Path | None, typer.Option("--json", help="Write a summary as JSON.")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write one JSON line a document to standard output."""
    found = load_model(Store(models_dir), model)
    documents = open_dataset(input, replace(reading, labels="optional"))
    only = tuple(labels) if labels else None
    query = Query(top_k, operating_point, threshold, min_probability, only, explain, nearest)
    frequencies = found.training_counts / max(found.manifest.data.counts["documents"], 1)
    asked = FileQuery(query, frequencies, explain_)
    predictions = file_predictions(asked, found.classifier, documents)
    count = sum(_write(prediction) for prediction in predictions)
    sys.stdout.buffer.flush()
    skipped = documents.summary.skipped
    write_json(
        json,
        {"model": found.name, "version": found.version, "documents": count, "skipped": skipped},
    )


def _write(prediction: Prediction) -> int:
    sys.stdout.buffer.write(msgspec.json.encode(prediction) + b"\n")
    return 1


if __name__ == "__main__":
    run(app)
