"""Train a model from a labelled corpus and put it into the store."""

import installed  # noqa: F401, I001

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.datasets.reading import open_dataset
from app.datasets.base import Record, ReadOptions, Summary
from app.datasets.collection import Collection, load_collection, split
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.cli.reading_options import takes_reading_options
from app.cli.terminal import (
    EXIT_NOT_PROMOTED,
    command,
    err,
    out,
    progress_bars,
    run,
    table,
    write_json,
)
from app.training.publish import (
    Published,
    check_target,
    documents_of,
    publish,
    summary,
    training_warnings,
)
from app.training.recipe import Recipe, read_recipe
from app.training.train import TrainingJob, Trained, train

app = command("Train a multi-label text classifier and put it into the model store.")


class Device(StrEnum):
    """Processors that networks are trained on; `auto` takes the fastest there is."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


EXAMPLES = """Examples:

\b
train.py tickets.jsonl --model tickets --test 0.2
train.py train.csv --text-columns subject,body --label-column topic --model topics
train.py train.tsv.gz --model fast --learner tree --promote not-worse --test test.tsv.gz
train.py tickets.jsonl --model tickets --folds-by date
train.py train.tsv --model wide --set features.ngram_range=[1,2] --liblinear "-s 1 -c 4"
"""

Files = Annotated[str, typer.Argument(help="Training data: a file, a folder, or - for stdin.")]


@app.command(epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    data: Files,
    model: Annotated[str, typer.Option(help="Name of the model to write a version of.")],
    valid: Annotated[
        str | None, typer.Option(help="Labelled data to tune on, instead of out-of-fold scores.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="Test data, or a share such as 0.2 of DATA to keep aside for it."),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(help="one-vs-rest (default), tree, kim-cnn, ensemble:A,B …: docs/learners.md"),
    ] = None,
    liblinear: Annotated[
        str | None, typer.Option(help='Options as LIBLINEAR writes them, e.g. "-s 1 -c 1".')
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="auto, block or liblinear: how linear models are solved.")
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(help=f"micro-f by default; one of: {accepted(Use.TRAINING)}."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Folds of the out-of-fold scores; 0: none.", min=0)
    ] = None,
    folds_by: Annotated[
        str | None,
        typer.Option(
            help="random (default); order: each part is scored by a model of the documents before "
            "it; or the CSV, Parquet or JSON column, such as a date, that gives that order."
        ),
    ] = None,
    fbr: Annotated[
        float | None, typer.Option(help="Labels whose held-out F1 is below it get a safe cut.")
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Abstain per label so that decisions reach this precision.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="What to train, as a TOML file.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change the recipe: section.key=value; may be repeated."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processors to use; 0: all. Same result.", min=0)] = 0,
    device: Annotated[Device, typer.Option(help="Where networks are trained.")] = Device.auto,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted training of a network.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    promote: Annotated[
        str, typer.Option(help="always, never, or not-worse than the current one on --test.")
    ] = "always",
    fingerprints: Annotated[
        bool,
        typer.Option(help="Keep hashes of the training texts, to warn of seen test documents."),
    ] = True,
    min_label_documents: Annotated[
        int, typer.Option(help="Drop labels with fewer training documents.", min=1)
    ] = 1,
    models_dir: Annotated[Path, typer.Option(help="The model store.")] = Path("models"),
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON (- stdout).")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Train, tune decisions on held-out scores, write models/MODEL/VERSION, promote it."""
    check_target(model, promote, has_test=test is not None)
    what = _recipe(
        read_recipe(recipe, learner=learner, changes=set_ or []),
        {"options": liblinear, "solver": solver},
        {"name": decision, "folds": folds, "folds_by": folds_by, "abstain": abstain},
        {"fbr": fbr},
    )
    store = Store(models_dir)
    with progress_bars() as progress:
        corpus = load_collection(
            data,
            replace(reading, order_column=what.decision.order_column),
            min_label_documents=min_label_documents,
            progress=progress,
        )
        corpus, test_set = _test_set(corpus, test, reading, seed)
        checkpoint = _checkpoint(models_dir, (model, corpus, what, seed), resume)
        job = TrainingJob(
            corpus,
            what,
            load_collection(valid, reading, progress=progress) if valid else None,
            seed=seed,
            jobs=jobs or os.cpu_count() or 1,
            device=device.value,
            checkpoint=checkpoint,
            keeps_fingerprints=fingerprints,
        )
        trained = train(job, progress)
        published = publish(
            trained, store, model, test=test_set, promote=promote, progress=progress
        )
    shutil.rmtree(checkpoint, ignore_errors=True)
    if str(json) != "-":
        _show(model, corpus, trained, published)
    write_json(json, {"model": model, **summary(trained, published, corpus.summary)})
    if promote == "not-worse" and not published.is_promoted:
        raise typer.Exit(EXIT_NOT_PROMOTED)


def _recipe(
    recipe: Recipe, learner: dict[str, Any], decision: dict[str, Any], tuning: dict[str, Any]
) -> Recipe:
    """The recipe with the options that were given on the command line."""
    recipe = recipe.with_learner(**{k: v for k, v in learner.items() if v is not None})
    recipe = recipe.with_tuning(**{k: v for k, v in tuning.items() if v is not None})
    return recipe.with_decision(**{k: v for k, v in decision.items() if v is not None})


def _test_set(
    corpus: Collection, test: str | None, options: ReadOptions, seed: int
) -> tuple[Collection, Callable[[], Iterable[Record]] | None]:
    """What is left to train on, and how to open the test set."""
    if test is None:
        return corpus, None
    try:
        share = float(test)
    except ValueError:
        return corpus, lambda: open_dataset(test, options)
    if not 0 < share < 1:
        raise InvalidRequestError("--test takes a file, or a share between 0 and 1")
    kept, aside = split(corpus, share, seed)
    return kept, lambda: documents_of(aside)


def _checkpoint(
    models_dir: Path, training: tuple[str, Collection, Recipe, int], resume: bool
) -> Path:
    """Where this very training is kept until it is done; emptied unless it is to go on."""
    model, corpus, recipe, seed = training
    what = repr((corpus.summary.sha256, len(corpus), recipe.as_dict(), seed))
    folder = models_dir / ".checkpoints" / f"{model}-{sha256(what.encode()).hexdigest()[:12]}"
    if resume and not folder.exists():
        err.print("--resume: no interrupted training of this kind is kept; starting anew")
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    return folder


def _show(model: str, corpus: Collection, trained: Trained, published: Published) -> None:
    found = corpus.summary
    rows = [[name, f"{value:,}"] for name, value in trained.info.counts.items()]
    rows += [[name, f"{count:,}"] for name, count in _oddities(found).items()]
    rows += _held_out(trained.info.figures)
    rows += [[f"seconds to {name}", f"{value:.1f}"] for name, value in trained.info.timings.items()]
    table(f"{model}@{published.version}", ["", ""], rows)
    for fault in found.skipped_lines:
        out.print(f"skipped line {fault.line}: {fault.problem}", markup=False, soft_wrap=True)
    for warning in training_warnings(trained.info.figures):
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)
    if published.report:
        _show_test(published.report.as_dict())
    out.print(f"{model}@{published.version}: {published.reason}", markup=False, soft_wrap=True)


def _held_out(figures: dict[str, Any]) -> list[list[str]]:
    """How documents were held out, and what decisions reached on them."""
    if "held_out" not in figures:
        return []
    how = f"held-out documents, by {figures['held_out_by']}"
    values = [[f"held-out {name}", f"{value:.4f}"] for name, value in figures["held_out"].items()]
    return [[how, f"{figures['held_out_documents']:,}"], *values]


def _oddities(found: Summary) -> dict[str, int]:
    """What a careful reader wants to know of the data, where there is any of it."""
    counts = {
        "empty texts": found.empty_texts,
        "duplicate ids": found.duplicate_ids,
        "unlabelled, dropped": found.dropped,
        "labels too rare, dropped": found.rare_labels,
        "pairs dropped with them": found.rare_pairs,
        "bad records, skipped": found.skipped,
    }
    always = ("empty texts", "duplicate ids")
    return {name: count for name, count in counts.items() if count or name in always}


def _show_test(report: dict[str, Any]) -> None:
    decisions, ranking = report["decisions"], report["ranking"]
    rows = [
        [f"{average}-F1", f"{decisions[average]['f1']:.4f}"]
        for average in ("micro", "macro", "macro_in_test")
    ]
    rows += [[name, f"{value:.4f}"] for name, value in ranking.items() if name.startswith("P@")]
    table(f"on {report['data']['documents']:,} test documents", ["", ""], rows)
    for warning in report["warnings"]:
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    run(app)
