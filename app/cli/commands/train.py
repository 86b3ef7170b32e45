"""Train a model from a labelled corpus and put it into the store."""

import os
from dataclasses import replace
from enum import StrEnum
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
from app.cli.completion import decisions, learners, model_names
from app.cli.examples import CommandWithExamples, examples
from app.cli.new_versions import Promote, exit_if_held_back
from app.cli.options.reading import (
    read_alike,
    say_how_labels_were_read,
    separated,
    takes_reading_options,
)
from app.cli.options.search import (
    ObjectiveOption,
    QualityOption,
    decision_name,
    quality_name,
    search_rows,
)
from app.cli.options.training import Changes, Jobs, RecipeFile, TestData
from app.cli.repeated_runs import Repetition, checked_name, run_repeatedly
from app.cli.stored_models import MODELS, ModelsDir
from app.cli.terminal import (
    Json,
    command,
    err,
    out,
    prepare_kernels,
    progress_bars,
    show_warnings,
    table,
    write_json,
)
from app.cli.test_sets import kept_aside, show_report
from app.datasets.base import ReadOptions, Summary
from app.datasets.collection import Collection, load_collection
from app.datasets.corrections.counts import CorrectionCounts
from app.datasets.corrections.file import load_corrections
from app.datasets.cost_file import load_costs
from app.datasets.labels_file import load_labels_file
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.evaluation.options import EvaluationOptions
from app.evaluation.suspects.file import MOST_SUSPECTS, check_suspects_file, write_suspects
from app.labels import LabelIndex
from app.metrics.costs import CostTable
from app.resources.freed_memory import return_freed_memory
from app.training.publish import (
    Published,
    check_target,
    publish,
    read_counts,
    summary,
    training_warnings,
)
from app.training.recipe import read_recipe
from app.training.repeated_runs import repeated_runs
from app.training.search.training import searched_training
from app.training.train import Trained, TrainingJob

app = command("Train a multi-label text classifier and put it into the model store.")


class Device(StrEnum):
    """Processors that networks are trained on; `auto` takes the fastest there is."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


EXAMPLES = examples(
    "tickets.jsonl --model tickets --test 0.2",
    "tickets.jsonl --model tickets --quality best --objective both",
    "train.csv --text-columns subject,body --label-column topic --model topics",
    "train.tsv.gz --model fast --learner tree --promote not-worse --test test.tsv.gz",
    "tickets.jsonl --model tickets --folds-by date",
    "tickets.jsonl --model tickets --decision cost --costs costs.csv",
    "tickets.jsonl --model tickets --suspects suspects.csv",
    "tickets.jsonl --model tickets --corrections suspects.csv",
    "tickets.jsonl --model tickets --cluster tcp://scheduler:8786",
    "tickets.jsonl --runs 10 --share 0.8 --json runs.json",
    'train.tsv --model wide --set features.ngram_range=[1,2] --liblinear "-s 1 -c 4"',
)

Files = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Training data: a file, a folder, 'a glob', a URL, or - for stdin."
    ),
]


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    data: Files,
    model: Annotated[
        str | None,
        typer.Option(
            help="Name of the model to write a version of; not needed with --runs.",
            autocompletion=model_names,
        ),
    ] = None,
    valid: Annotated[
        str | None, typer.Option(help="Labelled data to tune on, instead of out-of-fold scores.")
    ] = None,
    test: TestData = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="one-vs-rest (default), tree, kim-cnn, ensemble:A,B …: docs/learners.md",
            autocompletion=learners,
        ),
    ] = None,
    liblinear: Annotated[
        str | None, typer.Option(help='Options as LIBLINEAR writes them, e.g. "-s 1 -c 1".')
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="auto, block or liblinear: how linear models are solved.")
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            help=f"micro-f by default; one of: {accepted(Use.TRAINING)}.",
            autocompletion=decisions(Use.TRAINING),
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV, TSV or JSON of label, wrong, missed: what errors cost, for the "
            "report on --test and for --decision cost (without it 1 each)."
        ),
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
    recipe: RecipeFile = None,
    set_: Changes = None,
    jobs: Jobs = 0,
    device: Annotated[Device, typer.Option(help="Where networks are trained.")] = Device.auto,
    cluster: Cluster = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with an interrupted training of a network, or on a cluster."
        ),
    ] = False,
    quality: QualityOption = None,
    objective: ObjectiveOption = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    promote: Promote = "always",
    runs: Annotated[
        int | None,
        typer.Option(
            help="Repeat the whole way on so many random splits of DATA, publish nothing, and "
            "give mean and standard deviation of every figure.",
            min=1,
        ),
    ] = None,
    share: Annotated[
        float | None, typer.Option(help="With --runs: the share to train on; 0.8 by default.")
    ] = None,
    fingerprints: Annotated[
        bool,
        typer.Option(help="Keep hashes of the training texts, to warn of seen test documents."),
    ] = True,
    min_label_documents: Annotated[
        int, typer.Option(help="Drop labels with fewer training documents.", min=1)
    ] = 1,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="What labels are called: TSV, CSV or JSON of label,name,description,parent."
        ),
    ] = None,
    suspects: Annotated[
        Path | None,
        typer.Option(
            help="Write labels of DATA that are probably missing or wrong, most suspect first: "
            "FILE.csv or FILE.json."
        ),
    ] = None,
    corrections: Annotated[
        list[Path] | None,
        typer.Option(
            help="Apply these decisions to DATA: a suspects file with `decision` filled; may be "
            "repeated, the files then count in their order."
        ),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            help="Folder for large data while training: texts, and also features and held-out "
            "scores. Without it texts are in the system's folder, and the others in memory as "
            "long as they fit.",
            exists=True,
            file_okay=False,
            writable=True,
        ),
    ] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Train, tune decisions on held-out scores, write models/MODEL/VERSION, promote it."""
    others = {
        "--test": test is not None,
        "--promote": promote != "always",
        "--resume": resume,
        "--cluster": cluster is not None,
        "--suspects": suspects is not None,
    }
    repetition = Repetition(runs, share)
    tried = quality_name(quality, has_recipe=recipe is not None)
    name = checked_name(model, repetition, others)
    check_target(name, promote, has_test=test is not None)
    check_suspects_file(suspects)
    check_cluster(cluster)
    cost_table = load_costs(costs) if costs else None
    what = read_recipe(recipe, learner=learner, changes=set_ or []).with_options(
        {"options": liblinear, "solver": solver},
        {
            "name": decision_name(decision, objective),
            "folds": folds,
            "folds_by": folds_by,
            "abstain": abstain,
        },
        {"fbr": fbr},
    )
    return_freed_memory()
    store = Store(models_dir)
    labels_file = load_labels_file(labels) if labels else None
    with CommandCluster(cluster) as workers:
        with progress_bars() as progress:
            options = replace(reading, order_column=what.decision.order_column)
            corrected = [load_corrections(file) for file in corrections or []]
            hashes = [file.sha256 for file in corrected]

            def folder_of(files: Any) -> Path:
                """The folder of a training on files that nobody has read yet."""
                known = (files, hashes, min_label_documents, test, valid, what.as_dict(), seed)
                return _checkpoint(models_dir, name, known, resume)

            elsewhere = workers.reader(data, options, folder_of)
            corpus = load_collection(
                data,
                options,
                min_label_documents=min_label_documents,
                corrections=corrected,
                scratch=scratch,
                elsewhere=elsewhere,
                progress=progress,
            )
            say_how_labels_were_read(corpus.summary, reading)
            reading = read_alike(reading, corpus.summary)
            prepare_kernels(progress)
            unknown = _unknown_costs(cost_table, corpus)
            corpus, test_set = kept_aside(corpus, test, reading, seed)
            checkpoint = workers.folder
            if checkpoint is None and not runs:
                known = known_documents(corpus, what, seed)
                checkpoint = _checkpoint(models_dir, name, known, resume)
            job = TrainingJob(
                corpus,
                what,
                load_collection(valid, reading, scratch=scratch, progress=progress)
                if valid
                else None,
                seed=seed,
                jobs=jobs or os.cpu_count() or 1,
                device=device.value,
                checkpoint=checkpoint,
                keeps_fingerprints=fingerprints,
                labels_file=labels_file,
                most_suspects=MOST_SUSPECTS if suspects else 0,
                costs=cost_table,
                scratch=scratch,
            )
        _say_memory(job, has_cluster=cluster is not None)
        if runs is not None:
            read = {"model": model, "read": read_counts(corpus.summary), "warnings": unknown}
            about = {
                **read,
                "recipe": what.as_dict(),
                "quality": tried,
                "seed": seed,
                **repetition.as_dict(),
            }
            run_repeatedly(
                partial(repeated_runs, job, runs, repetition.share, quality=tried), json, about
            )
            return
        with progress_bars() as progress:
            job = replace(job, engine=workers.engine(checkpoint))
            trained = searched_training(job, tried, progress)
            workers.close()
            write_suspects(suspects, trained.suspects, corpus.summary.sha256)
            judging = EvaluationOptions(costs=cost_table)
            published = publish(
                trained,
                store,
                name,
                test=test_set,
                promote=promote,
                options=judging,
                progress=progress,
            )
    if checkpoint is not None:
        remove_checkpoint(checkpoint)
    if str(json) != "-":
        _show(name, corpus, trained, published)
        show_warnings(unknown if published.report is None else [])  # the report has them
    result = summary(trained, published, corpus.summary)
    write_json(json, {"model": name, **result, "warnings": [*result["warnings"], *unknown]})
    exit_if_held_back(promote, published)


SAID_FROM = 100_000_000
"""Bytes: less is nobody's concern."""


def _say_memory(job: TrainingJob, *, has_cluster: bool) -> None:
    """Tell on standard error what will be needed; refuse now what cannot fit."""
    plan = job.memory_plan()
    if plan is None:
        return
    if not has_cluster:
        plan.check()
    if plan.n_bytes >= SAID_FROM:
        err.print(plan.sentence(), markup=False, soft_wrap=True)


def _unknown_costs(costs: CostTable | None, corpus: Collection) -> list[str]:
    """A sentence for each label that has costs and no document."""
    return costs.unknown(LabelIndex.of(corpus.label_sets).names) if costs else []


def _checkpoint(models_dir: Path, model: str, known: Any, resume: bool) -> Path:
    """Where this very training is kept until it is done; emptied unless it is to go on."""
    folder = checkpoint_folder(models_dir, model, known)
    if resume and not folder.exists():
        others = any(folder.parent.glob(f"{model}-{'[0-9a-f]' * 12}"))
        why = "of other data or options than now" if others else "of this kind"
        which = "one" if others else "no interrupted training"
        err.print(f"--resume: {which} {why} is kept; starting anew", soft_wrap=True)
    if not resume:
        empty_checkpoint(folder)
    return folder


def _show(model: str, corpus: Collection, trained: Trained, published: Published) -> None:
    found = corpus.summary
    counts = trained.info.counts.items()
    rows = [[name.replace("_", " "), f"{value:,}"] for name, value in counts]
    rows += [[name, f"{count:,}"] for name, count in _oddities(found).items()]
    rows += [["label cells", separated(found.label_separator)]] if found.label_separator else []
    rows += _corrected(found.corrections)
    rows += _held_out(trained.info.figures)
    rows += search_rows(trained.info.figures)
    rows += _size(trained.info.figures["size"])
    rows += [["labels to look at again", f"{len(trained.suspects):,}"]] * bool(trained.suspects)
    rows += [[f"seconds to {name}", f"{value:.1f}"] for name, value in trained.info.timings.items()]
    table(f"{model}@{published.version}", ["", ""], rows)
    for fault in found.skipped_lines:
        out.print(f"skipped line {fault.line}: {fault.problem}", markup=False, soft_wrap=True)
    for fault in found.corrections.not_applied if found.corrections else ():
        out.print(f"corrections, line {fault.line}: {fault.problem}", markup=False, soft_wrap=True)
    show_warnings(training_warnings(trained.info))
    if note := trained.info.figures.get("drift", {}).get("note"):
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    if published.report:
        show_report(published.report.as_dict())
    out.print(f"{model}@{published.version}: {published.reason}", markup=False, soft_wrap=True)


def _corrected(counts: CorrectionCounts | None) -> list[list[str]]:
    """What the corrections did."""
    if counts is None:
        return []
    named = {
        "labels added": counts.added,
        "labels removed": counts.removed,
        "kept as they were": counts.kept,
        "already so": counts.already_so,
        "unmatched": counts.unmatched,
        "repeated": counts.repeated,
    }
    return [[f"corrections, {name}", f"{count:,}"] for name, count in named.items()]


def _held_out(figures: dict[str, Any]) -> list[list[str]]:
    """How documents were held out, and what decisions reached on them."""
    if "held_out" not in figures:
        return []
    how = f"held-out documents, by {figures['held_out_by']}"
    values = [[f"held-out {name}", f"{value:.4f}"] for name, value in figures["held_out"].items()]
    return [[how, f"{figures['held_out_documents']:,}"], *values, *_drift(figures.get("drift", {}))]


def _drift(found: dict[str, Any]) -> list[list[str]]:
    """Both figures of the last documents, where their order makes a difference beyond chance."""
    if not found.get("gap"):
        return []
    return [
        ["last part, micro_f1 by random folds", f"{found['random_micro_f1']:.4f}"],
        ["last part, micro_f1 by those before", f"{found['forward_micro_f1']:.4f}"],
    ]


def _size(size: dict[str, Any]) -> list[list[str]]:
    """Problems solved, where any were, and the bytes kept beside those of dense weights."""
    problems = [] if size["problems"] is None else [["problems solved", f"{size['problems']:,}"]]
    kept = f"{size['bytes']:,} ({size['dense_bytes']:,} as dense weights)"
    return [*problems, ["bytes of weights", kept]]


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
