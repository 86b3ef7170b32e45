"""Give a model new decisions, curve and calibration from a labelled set, without retraining."""

import installed  # noqa: F401, I001

import os
from pathlib import Path
from typing import Annotated

import typer

from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.decisions.base import Use
from app.decisions.names import accepted
from app.errors import InvalidRequestError
from app.model import load_model
from app.cli.reading_options import takes_reading_options
from app.cli.terminal import command, out, progress_bars, run, table, write_json
from app.training.publish import publish
from app.training.retune import Choice, Retuned, retune

app = command("Tune a model's decisions anew on a labelled set and write it as a new version.")


@app.command()
@takes_reading_options
def main(  # noqa: PLR0913
    model: Annotated[str, typer.Argument(help="The model: NAME, or NAME@VERSION.")],
    valid: Annotated[str, typer.Argument(help="Labelled documents it was not trained on.")],
    decision: Annotated[
        str | None, typer.Option(help=f"As it was, or one of: {accepted(Use.TRAINING)}.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="The β of the F that is maximised.")] = None,
    fbr: Annotated[
        float | None, typer.Option(help="Labels whose F is below it get a safe cut.")
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Abstain so that decisions made reach this precision.")
    ] = None,
    promote: Annotated[str, typer.Option(help="always, or never.")] = "always",
    jobs: Annotated[int | None, typer.Option(help="Processors to score with.", min=1)] = None,
    models_dir: Annotated[Path, typer.Option(help="The model store.")] = Path("models"),
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON (- stdout).")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Tune anew, show before and after, write a new version that says what it came from."""
    if promote not in ("always", "never"):
        raise InvalidRequestError("--promote: accepted: always, never")
    settings = {k: v for k, v in {"beta": beta, "fbr": fbr}.items() if v is not None}
    store = Store(models_dir)
    with progress_bars() as progress:
        old = load_model(store, model)
        labelled = load_collection(valid, reading, progress=progress)
        choice = Choice(decision, abstain, settings)
        retuned = retune(old, labelled, choice, jobs=jobs or os.cpu_count() or 1, progress=progress)
        published = publish(retuned.trained, store, old.name, promote=promote)
    version = f"{old.name}@{published.version}"
    if str(json) != "-":
        _show(f"{version}, from {old.name}@{old.version}", retuned)
        out.print(f"{version}: {published.reason}", markup=False, soft_wrap=True)
    result = {
        "model": old.name,
        "version": published.version,
        "from": old.version,
        "promoted": published.is_promoted,
        "before": retuned.before,
        "after": retuned.after,
        "cross_validated": retuned.cross_validated,
        "warnings": retuned.warnings,
    }
    write_json(json, result)


def _show(title: str, retuned: Retuned) -> None:
    columns = ["on the labelled set", "before", "after", "cross-validated"]
    rows = [
        [name.replace("_", "-"), f"{before:.4f}", f"{retuned.after[name]:.4f}"]
        + ([f"{retuned.cross_validated[name]:.4f}"] if retuned.cross_validated else ["–"])
        for name, before in retuned.before.items()
    ]
    table(title, columns, rows)
    for warning in retuned.warnings:
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    run(app)
