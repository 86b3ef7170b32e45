"""Compare two models (or files of scores) on the same test set, with tests of significance."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.completion import decisions, model_names
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.reading import ZeroDivision, takes_reading_options
from app.cli.stored_models import MODELS, ModelsDir, stored_model
from app.cli.terminal import Json, command, out, progress_bars, table, write_json
from app.datasets.base import ReadOptions
from app.datasets.reading import open_data
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, parse_k
from app.evaluation.compare.comparison import System, compare
from app.evaluation.report.tables import figure, headlines
from app.evaluation.storage.scored_file import ScoredFile

app = command("Compare two models (or files of scores) on the same test set.")

SHOWN_LABELS = 10
EXAMPLES = examples(
    "tickets demo demo/test.jsonl",
    "demo@20261115T120000-1f3c9a demo demo/test.jsonl --bootstrap 2000",
    "demo other-system.jsonl demo/test.jsonl --json -",
)
AVERAGES = ("micro", "macro", "macro_in_test", "samples")


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
@takes_reading_options
def main(  # noqa: PLR0913
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="A model, NAME or NAME@VERSION, or a file of scores.",
            autocompletion=model_names,
        ),
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="The other one.", autocompletion=model_names)
    ],
    test: Annotated[str, typer.Argument(metavar="TEST", help="A labelled test set.")],
    k: Annotated[str, typer.Option(help="Ranks to measure at.")] = "1,3,5",
    decision: Annotated[
        str,
        typer.Option(
            help=f"One of: {accepted(Use.EVALUATION)}.", autocompletion=decisions(Use.EVALUATION)
        ),
    ] = "tuned",
    zero_division: Annotated[
        ZeroDivision, typer.Option(help="What 0/0 counts as.")
    ] = ZeroDivision.zero,
    bootstrap: Annotated[int, typer.Option(help="Resamples of documents.", min=100)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processors to use; 0: all.", min=0)] = 0,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Print both side by side, each label's win and loss, and what may be concluded."""
    if test == "-":
        raise InvalidRequestError("the test set is read twice: give a file, not standard input")
    how = replace(reading, unlabelled="keep")  # counted, then left out by the evaluation
    options = EvaluationOptions(
        k=parse_k(k),
        decision=decision,
        zero_division=zero_division.value,
        unlabelled=reading.unlabelled,
        bootstrap=bootstrap,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
    )
    with progress_bars() as progress:
        how = replace(how, known_labels=_known_labels((a, b), models_dir))
        systems = [_system(name, test, how, models_dir) for name in (a, b)]
        found = compare(systems[0], systems[1], options, progress=progress)
    if str(json) != "-":
        _show(found)
    write_json(json, found)


def _known_labels(names: Sequence[str], models_dir: Path) -> set[str]:
    """The labels of all models among these, so that the test set is read alike for each."""
    models = [stored_model(models_dir, name) for name in names if not Path(name).is_file()]
    return {label for model in models for label in model.classifier.labels.names}


def _system(name: str, test: str, how: ReadOptions, models_dir: Path) -> System:
    if not Path(name).is_file():
        model = stored_model(models_dir, name)
        return System(model.classifier, JudgedModel.of(model), lambda: open_data(test, how))
    known = {label for document in open_data(test, how) for label in document.labels}
    scorer = ScoredFile(name, known)
    info = JudgedModel(Path(name).name, labels="scored or true")
    return System(scorer, info, lambda: scorer.paired(open_data(test, how)))


def _named(report: dict[str, Any]) -> str:
    """NAME@VERSION of a model; a file of scores has no version."""
    return "@".join(part for part in (report["model"], report["version"]) if part)


def _show(found: dict[str, Any]) -> None:
    a, b = found["a"], found["b"]
    tests = found["tests"]["bootstrap"]
    shared = [one for one in AVERAGES if one != "macro" or "macro.f1" in tests]
    rows = [_row(f"{average}.f1", *_f1(a, b, average), tests) for average in shared]
    rows += [
        _row(name, a["ranking"][name], b["ranking"][name], tests)
        for name in headlines(a["ranking"])
    ]
    table(
        f"A = {_named(a)}, B = {_named(b)}",
        ["figure", "A", "B", "A − B", "95 % interval", "p"],
        rows,
    )
    out.print()
    micro, macro, t = (found["tests"][name] for name in ("micro_sign", "macro_sign", "macro_t"))
    signs = [
        [name, figure(one["wins_a"]), figure(one["wins_b"]), f"{one['p']:.3g}"]
        for name, one in (("decisions", micro), ("labels' F1", macro))
    ]
    table("sign tests", ["over", "A better", "B better", "p"], signs)
    out.print(f"paired t-test over labels' F1: mean {t['mean']:+.4f}, p = {t['p']:.3g}\n")
    ordered = sorted(found["labels"], key=lambda one: -abs(one["difference"]))
    labels = [
        [one["label"], *(figure(one[key]) for key in ("support", "f1_a", "f1_b", "difference"))]
        for one in ordered[:SHOWN_LABELS]
    ]
    table("labels that differ most", ["label", "support", "F1 A", "F1 B", "A − B"], labels)
    out.print(found["conclusion"], markup=False, soft_wrap=True)


def _f1(a: dict[str, Any], b: dict[str, Any], average: str) -> tuple[Any, Any]:
    return a["decisions"][average]["f1"], b["decisions"][average]["f1"]


def _row(name: str, a: Any, b: Any, tests: dict[str, Any]) -> list[str]:
    test = tests.get(name)
    between = "–" if test is None else "{:+.4f} to {:+.4f}".format(*test["interval"])
    difference = "–" if a is None or b is None else f"{a - b:+.4f}"
    return [name, figure(a), figure(b), difference, between, f"{test['p']:.3g}" if test else "–"]
