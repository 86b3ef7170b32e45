"""Judge a model, any system's scores, or annotators' label files on a labelled test set."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.agreement import show_agreement
from app.cli.cluster import Cluster, check_cluster
from app.cli.completion import decisions, model_then_file
from app.cli.evaluating.partitions import is_by_file, is_worth_it, report_by_file
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.reading import ZeroDivision, say_separator, takes_reading_options
from app.cli.stored_models import MODELS, ModelsDir, stored_model
from app.cli.terminal import command, err, out, progress_bars, show_warnings, table, write_json
from app.datasets.base import ReadOptions
from app.datasets.cost_file import load_costs
from app.datasets.input.part_files import PartFile, part_files
from app.datasets.reading import open_data
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, Report, evaluate, parse_k
from app.evaluation.compare.annotators import annotator_agreement
from app.evaluation.report.page import page
from app.evaluation.report.tables import label_rows, single_figures, suspect_rows, tables
from app.evaluation.storage.scored_file import ScoredFile
from app.model import Model
from app.progress import Progress

app = command(
    "Judge a model, any system's scores, or annotators' label files on a labelled test set."
)

SHOWN_LABELS = 10
NOT_BY_FILE = (
    "--cluster: evaluated here, since only several files can be judged one by one, and not by a "
    "decision that needs all scores first"
)
EXAMPLES = examples(
    "demo demo/test.jsonl",
    "demo demo/test.jsonl --bootstrap 200 --html report.html",
    "demo 'test/*.parquet' --cluster tcp://scheduler:8786",
    "demo test.csv --label-column topic --decision 'precision>=0.9' --json report.json",
    "test.jsonl --scores other-system.jsonl",
    "first.jsonl --against second.jsonl",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] TEST",
            help="The model, NAME or NAME@VERSION (none with --scores or --against), and the data.",
            autocompletion=model_then_file,
        ),
    ],
    scores: Annotated[
        str | None,
        typer.Option(help="Judge this file of scores instead: JSON lines, or label:score pairs."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare TEST's labels with this file's: how far annotators agree. May be "
            "repeated, a file an annotator."
        ),
    ] = None,
    k: Annotated[str, typer.Option(help="Ranks to measure at.")] = "1,3,5",
    decision: Annotated[
        str,
        typer.Option(
            help=f"One of: {accepted(Use.EVALUATION)}.", autocompletion=decisions(Use.EVALUATION)
        ),
    ] = "tuned",
    beta: Annotated[float, typer.Option(help="The β of F_β.")] = 1.0,
    zero_division: Annotated[
        ZeroDivision, typer.Option(help="What 0/0 counts as.")
    ] = ZeroDivision.zero,
    include_test_labels: Annotated[
        bool, typer.Option("--include-test-labels", help="Count labels that were never trained.")
    ] = False,
    costs: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV or JSON of label, wrong, missed: what errors cost."),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(help="Resamples for 95 % intervals; 0: none.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 0,
    suspects: Annotated[
        int, typer.Option(help="List so many labels of TEST that are probably missing or wrong.")
    ] = 0,
    check_seen: Annotated[
        bool, typer.Option(help="Look for test documents that were trained on.")
    ] = True,
    html: Annotated[
        Path | None, typer.Option(help="Write the report as one self-contained page.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write every document's labels as JSON lines.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processors to use; 0: all.", min=0)] = 0,
    cluster: Cluster = None,
    models_dir: ModelsDir = MODELS,
    json: Annotated[Path | None, typer.Option(help="Write the report as JSON (- stdout).")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Print the report; docs/metrics.md defines every figure in it."""
    check_cluster(cluster)
    if cluster is not None and (scores or against):
        raise InvalidRequestError("--cluster is for a model; accepted: without --scores, --against")
    how = replace(reading, unlabelled="keep")  # counted, then left out by the evaluation
    model, test = _arguments(arguments, has_model=scores is None and not against)
    options = EvaluationOptions(
        k=parse_k(k),
        decision=decision,
        beta=beta,
        zero_division=zero_division.value,
        include_test_labels=include_test_labels,
        unlabelled=reading.unlabelled,
        bootstrap=bootstrap,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        predictions=predictions,
        check_seen=check_seen,
        suspects=suspects,
        costs=load_costs(costs) if costs else None,
    )
    if against:
        found = _agreement([test, *against], how, reading.unlabelled)
        if str(json) != "-":
            show_agreement(found)
        write_json(json, found)
        return
    with progress_bars() as progress:
        if scores is None:
            report = _of_model(model, test, (models_dir, how, cluster), options, progress)
        else:
            report = _of_scores(scores, test, how, options, progress)
    if html is not None:
        html.write_text(page(report), encoding="utf-8")
    if str(json) != "-":
        _show(report)
    write_json(json, report.as_dict())


def _arguments(arguments: list[str], *, has_model: bool) -> tuple[str, str]:
    if len(arguments) != 1 + has_model:
        wanted = "a model and a test set" if has_model else "a test set, and no model"
        raise InvalidRequestError(f"give {wanted}; see --help")
    return arguments[0], arguments[-1]


def _agreement(files: list[str], how: ReadOptions, unlabelled: str) -> dict[str, Any]:
    readings = [open_data(file, how) for file in files]
    return annotator_agreement(*readings, names=files, unlabelled=unlabelled)


def _of_model(
    model: str,
    test: str,
    where: tuple[Path, ReadOptions, str | None],
    options: EvaluationOptions,
    progress: Progress,
) -> Report:
    loaded = stored_model(where[0], model)
    known = set(loaded.classifier.labels.names)
    how = replace(where[1], known_labels=known)
    files = part_files(test, how.format)
    if _is_by_file(files, loaded, options, where[2]) and files:
        places, asked = (where[0], where[2]), (how, options)
        report, summary = report_by_file(loaded, files, places, asked, progress)
        say_separator(summary, how)
        return report
    documents = open_data(test, how)
    info = JudgedModel.of(loaded)
    report = evaluate(loaded.classifier, documents, options, info=info, progress=progress)
    say_separator(documents.summary, where[1])
    return report


def _is_by_file(
    files: list[PartFile] | None, model: Model, options: EvaluationOptions, cluster: str | None
) -> bool:
    """Whether files are measured one by one elsewhere; said where a cluster has nothing to do."""
    by_file = files is not None and len(files) > 1 and is_by_file(model, options)
    if cluster is not None and not by_file:
        err.print(NOT_BY_FILE, markup=False, soft_wrap=True)
    return by_file and (cluster is not None or is_worth_it(files, options.jobs))


def _of_scores(
    file: str, test: str, how: ReadOptions, options: EvaluationOptions, progress: Progress
) -> Report:
    if "-" in (test, file) or how.on_error == "skip":
        raise InvalidRequestError(
            "--scores reads both files twice and pairs their lines: give files, not standard "
            "input, and no --on-error skip"
        )
    known = {label for document in open_data(test, how) for label in document.labels}
    scorer = ScoredFile(file, known)
    info = JudgedModel(Path(file).name, labels="scored or true", cautions=tuple(scorer.cautions))
    documents = scorer.paired(open_data(test, how))
    return evaluate(scorer, documents, replace(options, jobs=1), info=info, progress=progress)


def _show(report: Report) -> None:
    found = report.as_dict()
    for rows in tables(found):
        if rows.rows:
            table(rows.title, rows.columns, rows.rows)
            out.print()
    table("", ["figure", ""], [[name, value] for name, value in single_figures(found)])
    out.print()
    table(*label_rows(found, SHOWN_LABELS))
    suspects = suspect_rows(found, SHOWN_LABELS)
    if suspects.rows:
        out.print()
        table(*suspects, text=2)
    show_warnings(found["warnings"])
