"""Search recipes for a labelled corpus within a budget of CPU time, and train the best of them."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.cli.checkpoints import (
    checkpoint_folder,
    empty_checkpoint,
    known_documents,
    remove_checkpoint,
)
from app.cli.cluster import Cluster, CommandCluster, check_cluster
from app.cli.completion import model_names
from app.cli.examples import CommandWithExamples, examples
from app.cli.new_versions import Promote, exit_if_held_back
from app.cli.options.reading import read_alike, say_how_labels_were_read, takes_reading_options
from app.cli.options.search import ObjectiveOption, decision_name
from app.cli.options.training import Changes, TestData
from app.cli.stored_models import MODELS, ModelsDir
from app.cli.terminal import (
    Json,
    command,
    out,
    prepare_kernels,
    progress_bars,
    show_warnings,
    table,
    write_json,
)
from app.cli.test_sets import kept_aside, show_report
from app.datasets.base import ReadOptions
from app.datasets.collection import load_collection
from app.errors import InvalidRequestError
from app.training.publish import Published, check_target, publish, training_warnings
from app.training.recipe import read_recipe
from app.training.train import TrainingJob
from app.training.tuning.tuned_training import Tuned, TuningFiles, tuned_training

app = command("Search recipes within a budget of CPU time and train the best of them.")

EXAMPLES = examples(
    "tickets.jsonl --model tickets --budget 10m",
    "tickets.jsonl --model tickets --budget 2m --objective both --test 0.2",
    "tickets.jsonl --model tickets --learners naive-bayes,knn --resume",
    "tickets.jsonl --model tickets --space space.toml",
    "tickets.jsonl --model tickets --budget 2h --cluster tcp://scheduler:8786",
)
UNITS = {"s": 1, "m": 60, "h": 3600}
SHOWN = 10


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Training data: a file, a folder, or - for stdin.")
    ],
    model: Annotated[
        str,
        typer.Option(help="Name of the model to write a version of.", autocompletion=model_names),
    ],
    budget: Annotated[
        str,
        typer.Option(
            help="CPU time for trials and training, of this command and of tasks that workers "
            "finish for it: 90s, 10m, 2h."
        ),
    ] = "10m",
    space: Annotated[
        Path | None,
        typer.Option(help="What to try instead of the usual: TOML with [[candidates]]."),
    ] = None,
    learners: Annotated[
        str | None, typer.Option(help="Further learners to try, separated by commas.")
    ] = None,
    objective: ObjectiveOption = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Settings that every candidate keeps, as a TOML file.")
    ] = None,
    set_: Changes = None,
    test: TestData = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Where trials.json, trials.html and recipe.toml go; MODELS_DIR/.tuning/MODEL.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the trials that were finished before.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processors to use; 0: all.", min=0)] = 0,
    cluster: Cluster = None,
    seed: Annotated[int, typer.Option(help="Of folds, samples and training.", min=0)] = 0,
    promote: Promote = "always",
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Try recipes on shared folds, the better ones on more data; train and write the best.

    Ctrl-C or the end of the budget keeps the best so far.
    """
    check_target(model, promote, has_test=test is not None)
    check_cluster(cluster)
    seconds = budget_seconds(budget)
    what = read_recipe(recipe, changes=set_ or [])
    what = what.with_options({}, {"name": decision_name(None, objective)}, {})
    files = TuningFiles(folder or models_dir / ".tuning" / model, resume=resume)
    further = [kind.strip() for kind in (learners or "").split(",") if kind.strip()]
    folder_of = partial(_parts, models_dir, model, resume)
    with CommandCluster(cluster) as workers, progress_bars() as progress:
        elsewhere = workers.reader(
            data, reading, lambda read: folder_of((read, test, what.as_dict(), seed))
        )
        corpus = load_collection(data, reading, elsewhere=elsewhere, progress=progress)
        say_how_labels_were_read(corpus.summary, reading)
        prepare_kernels(progress)
        corpus, test_set = kept_aside(corpus, test, read_alike(reading, corpus.summary), seed)
        parts = workers.folder
        if parts is None and cluster:
            parts = folder_of(known_documents(corpus, what, seed))
        job = TrainingJob(corpus, what, seed=seed, jobs=jobs or os.cpu_count() or 1)
        job = replace(job, engine=workers.engine(parts))
        tuned = tuned_training(
            job, seconds, space=space, learners=further, files=files, progress=progress
        )
        workers.close()
        published = publish(
            tuned.trained,
            Store(models_dir),
            model,
            test=test_set,
            promote=promote,
            progress=progress,
        )
    if parts is not None:
        remove_checkpoint(parts)
    if str(json) != "-":
        _show(model, tuned, published, files.folder)
    write_json(json, _result(model, tuned, published))
    exit_if_held_back(promote, published)


def budget_seconds(text: str) -> float:
    """The seconds of a budget such as 90s, 10m or 2h; a number alone is minutes."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "m")
    try:
        seconds = float(number) * UNITS[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InvalidRequestError("--budget is a time above 0: 90s, 10m or 2h")
    return seconds


def _parts(models_dir: Path, model: str, resume: bool, known: Any) -> Path:
    """Where workers leave what they finish; emptied unless it is to be taken up."""
    folder = checkpoint_folder(models_dir, f"{model}+tune", known)  # no model has a plus
    if not resume:
        empty_checkpoint(folder)
    return folder


def _result(model: str, tuned: Tuned, published: Published) -> dict[str, Any]:
    """What `--json` writes."""
    info = tuned.trained.info
    return {
        "model": model,
        "version": published.version,
        "promoted": published.is_promoted,
        "reason": published.reason,
        "figures": info.figures,
        "recipe": info.recipe,
        "timings": info.timings,
        "trials": tuned.trials,
        "default": tuned.default,
        "report": published.report.as_dict() if published.report else None,
    }


def _show(model: str, tuned: Tuned, published: Published, folder: Path) -> None:
    last = max(trial["rung"] for trial in tuned.trials)
    ranked = sorted(
        (trial for trial in tuned.trials if trial["rung"] == last), key=lambda t: -t["micro_f1"]
    )
    rows = [
        [t["name"], f"{t['micro_f1']:.4f}", f"{t['macro_f1']:.4f}", f"{t['cpu_seconds']:.1f}"]
        for t in ranked[:SHOWN]
    ]
    title = f"{len(tuned.trials)} trials; the best of the last rung"
    table(title, ["", "micro-F1", "macro-F1", "CPU s"], rows)
    search = tuned.trained.info.figures["search"]
    told = [["best", search["winner"]["name"]]]
    told += [[f"promised held-out {k}", f"{v:.4f}"] for k, v in search.get("promise", {}).items()]
    told += [[f"plain default, {k}", f"{v:.4f}"] for k, v in tuned.default.items()]
    table(f"{model}@{published.version}", ["", ""], told)
    show_warnings(training_warnings(tuned.trained.info))
    if published.report:
        show_report(published.report.as_dict())
    out.print(f"{folder}: trials.json, trials.html, recipe.toml", markup=False, soft_wrap=True)
    out.print(f"{model}@{published.version}: {published.reason}", markup=False, soft_wrap=True)
