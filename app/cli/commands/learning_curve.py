"""Quality against the number of training documents, and what more of them would give."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.completion import learners
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.reading import say_how_labels_were_read, takes_reading_options
from app.cli.options.training import Changes, Jobs, RecipeFile
from app.cli.terminal import Json, command, out, prepare_kernels, progress_bars, table, write_json
from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.errors import InvalidRequestError
from app.training.learning_curve.label_needs import FEW, RISING, TOO_FEW
from app.training.learning_curve.outcomes import LearningPoint
from app.training.learning_curve.points import curve, curve_sizes
from app.training.learning_curve.summary import curve_summary
from app.training.recipe import read_recipe
from app.training.train import TrainingJob

app = command("Train on parts of a labelled corpus and say what more documents would give.")

EXAMPLES = examples(
    "tickets.jsonl",
    "tickets.jsonl --to 20000 --json curve.json",
    "train.csv --label-column topic --learner tree --repeats 5",
)
MOST_LABELS = 20
REASONS = {
    RISING: "F1 still rises with examples",
    TOO_FEW: f"fewer than {FEW} examples",
}


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Labelled data: a file, a folder, or - for stdin.")
    ],
    to: Annotated[
        int | None,
        typer.Option(help="Training documents to look ahead to; twice those of DATA.", min=1),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Curves over random splits of DATA, whose mean is taken.", min=1)
    ] = 3,
    aside: Annotated[
        float, typer.Option(help="Share of DATA that each curve is judged on, and not trained on.")
    ] = 0.2,
    learner: Annotated[
        str | None,
        typer.Option(help="As in labelserve train.", autocompletion=learners),
    ] = None,
    recipe: RecipeFile = None,
    set_: Changes = None,
    jobs: Jobs = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same curve.", min=0)] = 0,
    min_label_documents: Annotated[
        int, typer.Option(help="Drop labels with fewer training documents.", min=1)
    ] = 1,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Train on a sixteenth, an eighth … and all of DATA but a part aside, and judge each on it.

    Nothing is published. A curve through the points says what to expect of more documents, with an
    interval that nine in ten should lie in, and which labels need more examples.
    """
    if not 0 < aside < 1:
        raise InvalidRequestError("--aside is a share above 0 and below 1")
    what = read_recipe(recipe, learner=learner, changes=set_ or [])
    with progress_bars() as progress:
        reading = replace(reading, order_column=what.decision.order_column)
        corpus = load_collection(
            data, reading, min_label_documents=min_label_documents, progress=progress
        )
        say_how_labels_were_read(corpus.summary, reading)
        curve_sizes(round((1 - aside) * len(corpus)))
        prepare_kernels(progress)
    job = TrainingJob(corpus, what, seed=seed, jobs=jobs or os.cpu_count() or 1)
    about = {"recipe": what.as_dict(), "seed": seed, "aside": aside, "planned": repeats}
    _run(job, (repeats, aside, to or 2 * len(corpus)), json, about)


def _run(
    job: TrainingJob, how: tuple[int, float, int], json: Path | None, about: dict[str, Any]
) -> None:
    """Show and write the curve; after an interrupt, that of the repeats done so far."""
    repeats, aside, target = how
    done: list[list[LearningPoint]] = []
    try:
        with progress_bars() as progress:
            for points in curve(job, repeats, aside, progress):
                done.append(points)
                found = {**about, **curve_summary(done, target)}
                write_json(None if str(json) == "-" else json, found)
    finally:
        if done:
            found = {**about, **curve_summary(done, target)}
            if str(json) != "-":
                _show(found)
            write_json(json, found)


def _show(found: dict[str, Any]) -> None:
    figures = found["figures"]
    runs = "1 curve" if found["repeats"] == 1 else f"mean of {found['repeats']} curves"
    rows = [
        [f"{size:,}", *(f"{own['points'][at]['value']:.4f}" for own in figures.values())]
        for at, size in enumerate(found["sizes"])
    ]
    expected = [own["expected"] for own in figures.values()]
    rows += [[f"{expected[0]['documents']:,} (expected)", *(_interval(own) for own in expected)]]
    title = f"{runs}, judged on {found['test_documents']:,} documents each"
    table(title, ["training documents", *figures], rows)
    for name, own in figures.items():
        _show_check(name, found["sizes"], own["check"])
    _show_labels(found["labels"])


def _interval(expected: dict[str, Any]) -> str:
    return f"{expected['value']:.3f} ({expected['low']:.3f}–{expected['high']:.3f})"


def _show_check(name: str, sizes: list[int], check: dict[str, Any] | None) -> None:
    """How the last point would have been foretold: what the interval is worth on these data."""
    if check is None:
        return
    verdict = "inside" if check["holds"] else "outside: do not rely on the interval above"
    out.print(
        f"{name}: from up to {sizes[-2]:,} documents, {_interval(check)} was to be expected with "
        f"{sizes[-1]:,}; found {check['found']:.3f}, {verdict}",
        markup=False,
        soft_wrap=True,
    )


def _show_labels(labels: list[dict[str, Any]]) -> None:
    needy = [own for own in labels if own["verdict"]]
    if not needy:
        out.print("no label was found to need more examples", markup=False)
        return
    rows = [
        [
            own["label"],
            REASONS[own["verdict"]],
            f"{own['examples']:,}",
            f"{own['half_f1']:.3f}",
            f"{own['f1']:.3f}",
            f"±{own['standard_error']:.3f}",
        ]
        for own in needy[:MOST_LABELS]
    ]
    title = f"needs more examples: {len(needy):,} of {len(labels):,} labels"
    title += f", the first {MOST_LABELS}" if len(needy) > MOST_LABELS else ""
    columns = ["label", "why", "examples", "F1, half of them", "F1, all", "error of the gain"]
    table(title, columns, rows, text=2)
