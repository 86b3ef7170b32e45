"""Judge a model, any system's scores, or two label files on a labelled test set."""

import installed  # noqa: F401, I001

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.datasets import open_dataset
from app.datasets.base import ReadOptions
from app.decisions.base import Use
from app.decisions.names import accepted
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, Report, evaluate, parse_k
from app.evaluation.compare.annotators import annotator_agreement
from app.evaluation.report.page import page
from app.evaluation.storage.scored_file import ScoredFile
from app.evaluation.report.tables import figure, label_rows, single_figures, tables
from app.model import load_model
from app.progress import Progress
from app.cli.reading_options import ZeroDivision, takes_reading_options
from app.cli.terminal import command, out, progress_bars, run, table, write_json

app = command("Judge a model, any system's scores, or two label files on a labelled test set.")

SHOWN_LABELS = 10


@app.command()
@takes_reading_options
def main(  # noqa: PLR0913
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] TEST",
            help="The model, NAME or NAME@VERSION (none with --scores or --against), and the data.",
        ),
    ],
    scores: Annotated[
        str | None,
        typer.Option(help="Judge this file of scores instead: JSON lines, or label:score pairs."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Compare TEST's labels with this file's: annotator overlap.")
    ] = None,
    k: Annotated[str, typer.Option(help="Ranks to measure at.")] = "1,3,5",
    decision: Annotated[
        str,
        typer.Option(help=f"One of: {accepted(Use.EVALUATION)}."),
    ] = "tuned",
    beta: Annotated[float, typer.Option(help="The β of F_β.")] = 1.0,
    zero_division: Annotated[
        ZeroDivision, typer.Option(help="What 0/0 counts as.")
    ] = ZeroDivision.zero,
    include_test_labels: Annotated[
        bool, typer.Option("--include-test-labels", help="Count labels that were never trained.")
    ] = False,
    bootstrap: Annotated[
        int, typer.Option(help="Resamples for 95 % intervals; 0: none.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 0,
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
    models_dir: Annotated[Path, typer.Option(help="The model store.")] = Path("models"),
    json: Annotated[Path | None, typer.Option(help="Write the report as JSON (- stdout).")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Print the report; docs/metrics.md defines every figure in it."""
    how = replace(reading, unlabelled="keep")  # counted, then left out by the evaluation
    model, test = _arguments(arguments, has_model=scores is None and against is None)
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
    )
    if against is not None:
        found = annotator_agreement(open_dataset(test, how), open_dataset(against, how))
        if str(json) != "-":
            table("agreement", ["", ""], [[name, _plain(v)] for name, v in found.items()])
        write_json(json, found)
        return
    with progress_bars() as progress:
        if scores is None:
            report = _of_model(model, test, (models_dir, how), options, progress)
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


def _of_model(
    model: str,
    test: str,
    where: tuple[Path, ReadOptions],
    options: EvaluationOptions,
    progress: Progress,
) -> Report:
    loaded = load_model(Store(where[0]), model)
    documents = open_dataset(test, where[1])
    return evaluate(
        loaded.classifier, documents, options, info=JudgedModel.of(loaded), progress=progress
    )


def _of_scores(
    file: str, test: str, how: ReadOptions, options: EvaluationOptions, progress: Progress
) -> Report:
    if "-" in (test, file) or how.on_error == "skip":
        raise InvalidRequestError(
            "--scores reads both files twice and pairs their lines: give files, not standard "
            "input, and no --on-error skip"
        )
    known = {label for document in open_dataset(test, how) for label in document.labels}
    scorer = ScoredFile(file, known)
    info = JudgedModel(Path(file).name, labels="scored or true", cautions=tuple(scorer.cautions))
    documents = scorer.paired(open_dataset(test, how))
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
    for warning in found["warnings"]:
        out.print(f"warning: {warning}", markup=False, soft_wrap=True)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else figure(value)


if __name__ == "__main__":
    run(app)
