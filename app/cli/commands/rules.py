"""Hand-written rules: check a file of them, or apply it to a model as a new version."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.cli.examples import CommandWithExamples, examples
from app.cli.new_versions import Promote, exit_if_held_back, written_version
from app.cli.options.reading import takes_reading_options
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, stored_model
from app.cli.terminal import (
    EXIT_FAILED,
    Json,
    command,
    err,
    out,
    progress_bars,
    show_warnings,
    table,
    write_json,
)
from app.datasets.base import ReadOptions
from app.datasets.reading import open_data
from app.evaluation.report.report import Report
from app.evaluation.rule_effects import RuleEffect, firing_effects, rule_effects
from app.hand_rules.conflicts import conflicts
from app.hand_rules.rule_set import HandRule, HandRules
from app.hand_rules.rules_file import RulesFile, load_rules
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex
from app.model import Model
from app.training.hand_rules import rules_for, with_rules, words_read_by
from app.training.publish import Published, check_target, measure, publish

app = command(
    "Hand-written rules that assign or forbid labels, over whatever a model decides.",
    "check tickets.rules.toml --model tickets --test labelled.jsonl",
    "apply tickets tickets.rules.toml --test labelled.jsonl --promote not-worse",
)

RulesArgument = Annotated[
    Path, typer.Argument(metavar="RULES", help="A TOML file of [[rule]] tables.", exists=True)
]
FIGURES = ("micro-F1", "micro-precision", "micro-recall", "macro-F1")
MOST_SHOWN = 34
"""Characters of a pattern in a table."""


@app.command(
    "check",
    cls=CommandWithExamples,
    epilog=examples("rules.toml", "rules.toml --model tickets --test labelled.jsonl"),
)
@takes_reading_options
def check(
    rules: RulesArgument,
    model: Annotated[
        str | None, typer.Option(help="The model they are for: its labels and its words.")
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Documents, to see which rules ever hold.")
    ] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Name every mistake, contradictions, and rules that never hold."""
    trained = stored_model(models_dir, model) if model else None
    read = rules_for(trained, rules) if trained else load_rules(rules, Analysis())
    known = _over(read, trained)
    warnings, effects = conflicts(read.rules), []
    if test is not None:
        documents = open_data(test, replace(reading, labels="optional"))
        effects = firing_effects(known, documents)
        warnings += _never_held(known.rules, effects)
    if str(json) != "-":
        _show_check(rules, read, effects, warnings)
    write_json(json, _checked(read, effects, warnings))
    if read.mistakes:
        raise typer.Exit(EXIT_FAILED)


@app.command(
    "apply",
    cls=CommandWithExamples,
    epilog=examples("tickets rules.toml", "tickets rules.toml --test labelled.jsonl"),
)
@takes_reading_options
def apply(  # noqa: PLR0913
    model: ModelArgument,
    rules: RulesArgument,
    test: Annotated[
        str | None, typer.Option(help="Labelled documents: figures before and after, rule by rule.")
    ] = None,
    promote: Promote = "always",
    models_dir: ModelsDir = MODELS,
    json: Json = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write the model with these rules as a new version.

    They stand in place of those that it may have had.
    """
    check_target(model.partition("@")[0], promote, has_test=test is not None)
    old = stored_model(models_dir, model)
    trained = with_rules(old, rules)
    known = trained.classifier.hand_rules
    assert known is not None  # noqa: S101 - for the type checker
    before, effects = None, []
    with progress_bars() as progress:
        if test is not None:
            before = measure(old, lambda: open_data(test, reading), progress=progress)
            effects = rule_effects(old.classifier, known, open_data(test, reading))
        published = publish(
            trained,
            Store(models_dir),
            old.name,
            test=(lambda: open_data(test, reading)) if test is not None else None,
            promote=promote,
            progress=progress,
        )
    warnings = conflicts(known.rules) + _never_held(known.rules, effects)
    if str(json) != "-":
        _show_applied(old, published, (before, known.rules, effects))
        show_warnings(warnings)
    write_json(json, _applied(old, published, before, (known.rules, effects, warnings)))
    exit_if_held_back(promote, published)


def _over(read: RulesFile, model: Model | None) -> HandRules:
    """The rules that can be read, for a model, or for the labels that they name themselves."""
    if model is not None:
        return HandRules(read.rules, model.classifier.answered_labels, words_read_by(model))
    return HandRules(read.rules, LabelIndex.of([[r.label] for r in read.rules]), Analysis())


def _never_held(rules: Sequence[HandRule], effects: list[RuleEffect]) -> list[str]:
    return [
        f"line {rule.line}: this rule holds for no document of the test set"
        for rule, effect in zip(rules, effects, strict=False)
        if not effect.fired
    ]


def _show_check(
    file: Path, read: RulesFile, effects: list[RuleEffect], warnings: list[str]
) -> None:
    for mistake in read.mistakes:
        err.print(f"error: {mistake}", style="red", markup=False, soft_wrap=True)
    if effects:
        columns = ["line", "label", "then", "when", "holds", "overruled"]
        rows = [
            [*_described(rule), f"{effect.fired:,}", f"{effect.overruled:,}"]
            for rule, effect in zip(read.rules, effects, strict=True)
        ]
        table("", columns, rows, text=4)
    show_warnings(warnings)
    n_rules, n_mistakes = len(read.rules), len(read.mistakes)
    counted = f"{n_rules} rules" if n_rules != 1 else "1 rule"
    mistakes = "no mistakes" if not n_mistakes else f"mistakes: {n_mistakes}"
    out.print(f"{file}: {counted}, {mistakes}", markup=False, soft_wrap=True)


def _show_applied(
    old: Model,
    published: Published,
    tried: tuple[Report | None, Sequence[HandRule], list[RuleEffect]],
) -> None:
    before, rules, effects = tried
    version = f"{old.name}@{published.version}"
    if before is not None and published.report is not None:
        first, second = _figures(before), _figures(published.report)
        rows = [[name, f"{first[name]:.4f}", f"{second[name]:.4f}"] for name in FIGURES]
        n_documents = before.as_dict()["data"]["documents"]
        table(f"on {n_documents:,} test documents", ["", "before", "after"], rows)
        columns = ["line", "label", "then", "when", "holds", "overruled", "moved", "rightly"]
        rows = [
            [*_described(rule), *(f"{count:,}" for count in asdict(effect).values())]
            for rule, effect in zip(rules, effects, strict=True)
        ]
        table("documents by rule", columns, rows, text=4)
    source = f"{len(rules)} rules over {old.name}@{old.version}"
    out.print(f"{version}, {source}: {published.reason}", markup=False, soft_wrap=True)


def _described(rule: HandRule) -> list[str]:
    when = " ".join(rule.when.split())
    short = when if len(when) <= MOST_SHOWN else f"{when[: MOST_SHOWN - 1]}…"
    return [str(rule.line), rule.label, rule.then, short]


def _figures(report: Report) -> dict[str, float]:
    decisions: dict[str, Any] = report.as_dict()["decisions"]
    micro, macro = decisions["micro"], decisions["macro"]
    values = (micro["f1"], micro["precision"], micro["recall"], macro["f1"])
    return dict(zip(FIGURES, values, strict=True))


def _checked(read: RulesFile, effects: list[RuleEffect], warnings: list[str]) -> dict[str, Any]:
    """What `check --json` writes."""
    return {
        "rules": _rows(read.rules, effects),
        "mistakes": [
            {"line": m.line, "column": m.column, "problem": m.problem, "accepted": m.accepted}
            for m in read.mistakes
        ],
        "warnings": warnings,
    }


def _applied(
    old: Model,
    published: Published,
    before: Report | None,
    tried: tuple[Sequence[HandRule], list[RuleEffect], list[str]],
) -> dict[str, Any]:
    """What `apply --json` writes."""
    rules, effects, warnings = tried
    return {
        **written_version(old, published),
        "reason": published.reason,
        "before": _figures(before) if before else None,
        "after": _figures(published.report) if published.report else None,
        "rules": _rows(rules, effects),
        "warnings": warnings,
        "report": published.report.as_dict() if published.report else None,
    }


def _rows(rules: Sequence[HandRule], effects: list[RuleEffect]) -> list[dict[str, Any]]:
    counts = [asdict(effect) for effect in effects] or [{} for _ in rules]
    return [
        {
            "line": rule.line,
            "label": rule.label,
            "then": rule.then,
            "when": rule.when,
            "note": rule.note,
            **count,
        }
        for rule, count in zip(rules, counts, strict=True)
    ]
