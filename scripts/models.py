"""The model store: list, show, verify, use, remove, prune."""

import installed  # noqa: F401, I001

from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.artifacts.summary import store_facts, version_facts
from app.errors import AppError
from app.model import load_model
from app.cli.terminal import EXIT_FAILED, command, out, run, table, write_json

app = command("Look after the model store. A model is NAME (its current version) or NAME@VERSION.")

ModelArgument = Annotated[str, typer.Argument(help="NAME or NAME@VERSION.")]
ModelsDir = Annotated[Path, typer.Option(help="The model store.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON (- stdout).")]
MODELS = Path("models")


@app.command("list")
def list_(models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Every version of every model; * marks the current ones."""
    found = store_facts(Store(models_dir))
    _print(json, lambda: _show_list(found), {"models": found})


@app.command()
def show(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Everything the manifest says about one version, but its arrays and golden documents."""
    store = Store(models_dir)
    name, version = store.resolve(model)
    store.peek(name, version)
    facts = version_facts(store, name, version)
    _print(json, lambda: _show_facts(facts), facts)


@app.command()
def verify(
    model: Annotated[str | None, typer.Argument(help="NAME, NAME@VERSION; omitted: all.")] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Check every byte and the golden documents; exit 1 if anything is wrong."""
    store = Store(models_dir)
    asked = [model] if model else [f"{n}@{v}" for n in store.names() for v in store.versions(n)]
    found = [_verified(store, *store.resolve(reference)) for reference in asked]
    rows = [[item["model"], item["version"], item.get("problem", "good")] for item in found]
    _print(json, lambda: table("", ["model", "version", ""], rows, text=3), {"models": found})
    if any("problem" in item for item in found):
        raise typer.Exit(EXIT_FAILED)


@app.command()
def use(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Make a version current, once it is verified; running services pick it up by themselves."""
    store = Store(models_dir)
    name, version = store.resolve(model)
    load_model(store, f"{name}@{version}")
    store.promote(name, version)
    _print(json, lambda: out.print(f"{name} is now {version}"), {"model": name, "current": version})


@app.command()
def remove(model: ModelArgument, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Remove NAME@VERSION; the current version is refused."""
    store = Store(models_dir)
    name, version = store.resolve(model)
    store.remove(name, version)
    _print(json, lambda: _show_removed(name, [version]), {"model": name, "removed": [version]})


@app.command()
def prune(
    name: Annotated[str, typer.Argument(help="The model's name.")],
    keep: Annotated[int, typer.Option(help="How many of the newest to keep.", min=1)],
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Remove all but the newest versions and the current one."""
    removed = Store(models_dir).prune(name, keep)
    _print(json, lambda: _show_removed(name, removed), {"model": name, "removed": removed})


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


def _show_list(found: list[dict[str, Any]]) -> None:
    columns = ["model", "version", "learner", "decision", "labels", "MB", "micro-F1"]
    table("", columns, [_row(facts) for facts in found], text=4)
    if not found:
        out.print("no models yet: scripts/train.py makes one")


def _row(facts: dict[str, Any]) -> list[str]:
    version = facts["version"] + (" *" if facts["is_current"] else "")
    if "problem" in facts:
        return [facts["model"], version, facts["problem"], "", "", "", ""]
    f1 = facts["figures"].get("held_out", {}).get("micro_f1")
    size, best = f"{facts['bytes'] / 1e6:.1f}", "" if f1 is None else f"{f1:.4f}"
    words = [facts["model"], version, facts["learner"], facts["decision"]]
    return [*words, f"{facts['labels']:,}", size, best]


def _show_facts(facts: dict[str, Any]) -> None:
    rows = []
    for name, value in facts.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name} {key}".strip(), str(found)] for key, found in inner]
    table("", ["", ""], rows, text=2)


def _show_removed(name: str, versions: list[str]) -> None:
    for version in versions:
        out.print(f"removed {name}@{version}")
    if not versions:
        out.print("nothing to remove")


if __name__ == "__main__":
    run(app)
