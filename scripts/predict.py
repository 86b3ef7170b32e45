"""Label the documents of a file with a model of the store."""

import installed  # noqa: F401, I001

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.artifacts.store import Store
from app.datasets import open_dataset
from app.datasets.base import ReadOptions
from app.decisions.rules.proportion_cut import ProportionCut
from app.explanation import explain as explain_
from app.model import load_model
from app.prediction import Prediction, Query, plan_of
from app.prediction.offline import batch_predictions, file_predictions
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
        typer.Option(
            help="tuned, precision>=P, recall>=R, f1, f0.5, f2 (each also macro:…), or "
            "proportion:X over the whole file."
        ),
    ] = None,
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
    is_batch = (operating_point or "").startswith("proportion:")
    n_labels = len(found.classifier.labels)
    query = Query(
        (top_k or n_labels) if is_batch else top_k,
        None if is_batch else operating_point,
        threshold,
        min_probability,
        tuple(labels) if labels else None,
        explain,
    )
    plan = plan_of(query, found.classifier, explainer=explain_)
    if is_batch and operating_point is not None:
        n_trained = found.manifest.data.counts["documents"]
        cut = ProportionCut.of(operating_point, found.training_counts, n_trained)
        predictions = batch_predictions(plan, cut, documents)
    else:
        predictions = file_predictions(plan, documents)
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
