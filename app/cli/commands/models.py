"""The model store: what is in it, what answers, what is tried on live traffic, what travels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.artifacts.summary import store_facts, version_facts
from app.cli.completion import model_names
from app.cli.model_files import diff, pack, unpack
from app.cli.new_versions import written_version
from app.cli.stored_models import (
    MODELS,
    ModelArgument,
    ModelsDir,
    naming_the_others,
    resolved,
    why_none,
)
from app.cli.terminal import EXIT_FAILED, Json, command, out, table, write_json
from app.cli.trials import canary, settle, shadow
from app.datasets.label_map import load_label_map
from app.errors import AppError, InvalidRequestError
from app.model import load_model
from app.training.publish import publish
from app.training.relabel import relabel as relabel_

app = command(
    "Look after the model store. A model is NAME (its current version) or NAME@VERSION.",
    "list",
    "show demo",
    "verify",
    "use demo@20261115T120000-1f3c9a",
    "prune demo --keep 3",
    "relabel demo changes.csv",
    "pack demo demo.zip",
    "unpack demo.zip",
    "diff demo demo@20261115T120000-1f3c9a",
    "shadow demo@20261115T120000-1f3c9a --share 0.1",
    "settle demo --drop",
)
for _command in (pack, unpack, diff, shadow, canary, settle):
    app.command()(_command)


@app.command("list")
def list_(models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Every version of every model; * marks those that answer."""
    store = Store(models_dir)
    found = store_facts(store)
    _print(json, lambda: _show_list(found, store), {"models": found})


@app.command()
def show(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """What the manifest says of a version, but golden documents."""
    store = Store(models_dir)
    name, version = resolved(store, model)
    store.peek(name, version)
    facts = version_facts(store, name, version)
    _print(json, lambda: _show_facts(facts), facts)


@app.command()
def verify(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="NAME, NAME@VERSION; omitted: all.",
            autocompletion=model_names,
        ),
    ] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Check every byte and the golden documents; exit 1 if wrong."""
    store = Store(models_dir)
    asked = [model] if model else [f"{n}@{v}" for n in store.names() for v in store.versions(n)]
    found = [_verified(store, *resolved(store, reference)) for reference in asked]
    rows = [[item["model"], item["version"], item.get("problem", "good")] for item in found]
    _print(json, lambda: table("", ["model", "version", ""], rows, text=3), {"models": found})
    if any("problem" in item for item in found):
        raise typer.Exit(EXIT_FAILED)


@app.command()
def use(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Make a version current, once it is verified; services pick it up."""
    store = Store(models_dir)
    name, version = resolved(store, model)
    load_model(store, f"{name}@{version}")
    store.promote(name, version)
    _print(json, lambda: out.print(f"{name} is now {version}"), {"model": name, "current": version})


@app.command()
def remove(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Remove NAME@VERSION; the current version is refused."""
    store = Store(models_dir)
    name, version = resolved(store, model)
    store.remove(name, version)
    _print(json, lambda: _show_removed(name, [version]), {"model": name, "removed": [version]})


@app.command()
def prune(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The model's name.", autocompletion=model_names),
    ],
    keep: Annotated[int, typer.Option(help="How many of the newest to keep.", min=1)],
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Remove all but the newest versions and the current one."""
    store = Store(models_dir)
    with naming_the_others(store, name):
        removed = store.prune(name, keep)
    _print(json, lambda: _show_removed(name, removed), {"model": name, "removed": removed})


@app.command()
def relabel(
    model: ModelArgument,
    file: Annotated[
        Path, typer.Argument(help="CSV from,to: two with one `to` are merged, an empty one hides.")
    ],
    promote: Annotated[str, typer.Option(help="always, or never.")] = "always",
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Rename, merge or hide labels: a new version, without retraining."""
    if promote not in ("always", "never"):
        raise InvalidRequestError("--promote: accepted: always, never")
    store = Store(models_dir)
    old = load_model(store, model)
    relabelled = relabel_(old, load_label_map(file))
    published = publish(relabelled.trained, store, old.name, promote=promote)
    content = {
        **written_version(old, published),
        **relabelled.counts,
        "labels": len(relabelled.trained.classifier.answered_labels),
    }
    _print(json, lambda: _show_facts(content), content)


def _verified(store: Store, name: str, version: str) -> dict[str, Any]:
    try:
        load_model(store, f"{name}@{version}")
    except AppError as error:
        return {"model": name, "version": version, "problem": str(error)}
    return {"model": name, "version": version}


def _print(json: Path | None, show: Any, content: Any) -> None:
    """The table, unless standard output is taken by the JSON."""
    if str(json) != "-":
        show()
    write_json(json, content)


def _show_list(found: list[dict[str, Any]], store: Store) -> None:
    if not found:
        out.print(f"models: {why_none(store)}", markup=False, soft_wrap=True)
        return
    columns = ["model", "version", "learner", "decision", "labels", "MB", "micro-F1"]
    table("", columns, [_row(facts) for facts in found], text=4)


def _row(facts: dict[str, Any]) -> list[str]:
    marks = ["*"] * facts["is_current"] + facts.get("on_trial", [])
    version = " ".join([facts["version"], *marks])
    if "problem" in facts:
        return [facts["model"], version, facts["problem"], "", "", "", ""]
    f1 = facts["figures"].get("held_out", {}).get("micro_f1")
    size, best = f"{facts['bytes'] / 1e6:.1f}", "" if f1 is None else f"{f1:.4f}"
    words = [facts["model"], version, facts["learner"], facts["decision"]]
    return [*words, f"{facts['labels']:,}", size, best]


def _show_facts(facts: dict[str, Any]) -> None:
    rows = list(_flat(facts))
    width = max(len(name) for name, _ in rows)
    for name, found in rows:  # a table would cut long names in a narrow terminal
        out.print(f"{name:<{width}}  {found}", markup=False, highlight=False, soft_wrap=True)


def _flat(facts: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every value with the names on the way to it."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name} ")
        else:
            yield f"{above}{name}", str(value)


def _show_removed(name: str, versions: list[str]) -> None:
    for version in versions:
        out.print(f"removed {name}@{version}")
    if not versions:
        out.print("nothing to remove")
