"""Give a model new decisions, curve and calibration from a labelled set, without retraining."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.cli.completion import decisions
from app.cli.examples import CommandWithExamples, examples
from app.cli.new_versions import Promote, exit_if_held_back, written_version
from app.cli.options.reading import (
    read_alike,
    say_how_labels_were_read,
    takes_reading_options,
)
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, stored_model
from app.cli.terminal import (
    Json,
    command,
    out,
    progress_bars,
    show_warnings,
    table,
    write_json,
)
from app.cli.test_sets import kept_aside, show_report
from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.datasets.cost_file import load_costs
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.model import Model
from app.training.publish import Published, check_target, publish
from app.training.retune import Choice, Retuned, retune

app = command("Tune a model's decisions anew on a labelled set and write it as a new version.")

EXAMPLES = examples(
    "tickets labelled.jsonl",
    "tickets labelled.csv --label-column topic --decision macro-f --beta 2",
    "tickets labelled.jsonl --test 0.3 --promote not-worse",
    "tickets labelled.jsonl --abstain 0.9 --promote never",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    model: ModelArgument,
    valid: Annotated[
        str, typer.Argument(metavar="VALID", help="Labelled documents it was not trained on.")
    ],
    test: Annotated[
        str | None,
        typer.Option(
            help="Test data, other than VALID, or a share such as 0.3 of VALID to keep aside for "
            "it: what both versions are measured on."
        ),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            help=f"As it was, or one of: {accepted(Use.TRAINING)}.",
            autocompletion=decisions(Use.TRAINING),
        ),
    ] = None,
    beta: Annotated[float | None, typer.Option(help="The β of the F that is maximised.")] = None,
    fbr: Annotated[
        float | None, typer.Option(help="Labels whose F is below it get a safe cut.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV or JSON of label, wrong, missed: what errors cost."),
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Abstain so that decisions made reach this precision.")
    ] = None,
    promote: Promote = "always",
    jobs: Annotated[int | None, typer.Option(help="Processors to score with.", min=1)] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Tune anew, show before and after, write a new version that says what it came from."""
    check_target(model.partition("@")[0], promote, has_test=test is not None)
    _check_test(test, valid)
    settings = {k: v for k, v in {"beta": beta, "fbr": fbr}.items() if v is not None}
    with progress_bars() as progress:
        old = stored_model(models_dir, model)
        known = replace(reading, known_labels=set(old.classifier.labels.names))
        labelled = load_collection(valid, known, progress=progress)
        say_how_labels_were_read(labelled.summary, reading)
        reading = read_alike(reading, labelled.summary)
        labelled, test_set = kept_aside(labelled, test, reading, old.manifest.seed)
        choice = Choice(decision, abstain, settings, load_costs(costs) if costs else None)
        retuned = retune(old, labelled, choice, jobs=jobs or os.cpu_count() or 1, progress=progress)
        published = publish(
            retuned.trained,
            Store(models_dir),
            old.name,
            test=test_set,
            promote=promote,
            progress=progress,
        )
    if str(json) != "-":
        _show(old, retuned, published)
    write_json(json, _result(old, retuned, published))
    exit_if_held_back(promote, published)


def _check_test(test: str | None, valid: str) -> None:
    """Refuse to measure new cuts on the documents that they are tuned on."""
    files = [Path(name) for name in (test or "", valid)]
    if all(file.exists() for file in files) and files[0].samefile(files[1]):
        raise InvalidRequestError(
            "--test is VALID itself, to which the new cuts fit: give other documents, or a share "
            "of VALID such as 0.3"
        )


def _result(old: Model, retuned: Retuned, published: Published) -> dict[str, Any]:
    """What `--json` writes."""
    return {
        **written_version(old, published),
        "reason": published.reason,
        "before": retuned.before,
        "after": retuned.after,
        "cross_validated": retuned.cross_validated,
        "warnings": retuned.warnings,
        "report": published.report.as_dict() if published.report else None,
    }


def _show(old: Model, retuned: Retuned, published: Published) -> None:
    version = f"{old.name}@{published.version}"
    _show_figures(f"{version}, from {old.name}@{old.version}", retuned)
    if published.report:
        show_report(published.report.as_dict())
    out.print(f"{version}: {published.reason}", markup=False, soft_wrap=True)


def _show_figures(title: str, retuned: Retuned) -> None:
    columns = ["on the labelled set", "before", "after", "cross-validated"]
    rows = [
        [name.replace("_", "-"), f"{before:.4f}", f"{retuned.after[name]:.4f}"]
        + ([f"{retuned.cross_validated[name]:.4f}"] if retuned.cross_validated else ["–"])
        for name, before in retuned.before.items()
    ]
    table(title, columns, rows)
    show_warnings(retuned.warnings)
