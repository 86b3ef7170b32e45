"""`models pack`, `unpack` and `diff`: models that travel as one file, and two side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.packing import Unpacked
from app.artifacts.packing import pack as pack_
from app.artifacts.packing import unpack as unpack_
from app.artifacts.store import Store
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, resolved, stored_model
from app.cli.terminal import Json, out, prepare_kernels, table, write_json
from app.errors import InvalidRequestError
from app.evaluation.compare.model_difference import Described, difference
from app.model import Model, model_from

Archive = Annotated[Path, typer.Argument(metavar="FILE", help="The packed model, a .zip file.")]
LONGEST_CELL = 27
AUTO, ALWAYS, NEVER = "auto", "always", "never"


def pack(
    model: ModelArgument, file: Archive, models_dir: ModelsDir = MODELS, json: Json = None
) -> None:
    """Write a version as one file; the same bytes every time."""
    store = Store(models_dir)
    name, version = resolved(store, model)
    size = pack_(store, name, version, file)
    content = {"model": name, "version": version, "file": str(file), "bytes": size}
    _tell(json, content, f"packed {name}@{version}: {file}, {size / 1e6:.1f} MB")


def unpack(
    file: Archive,
    name: Annotated[str, typer.Option(help="Another name than the packed one.")] = "",
    promote: Annotated[
        str, typer.Option(help="always, never, or auto: where the model has no current version.")
    ] = AUTO,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Put a packed version into the store, once it is verified."""
    if promote not in (AUTO, ALWAYS, NEVER):
        raise InvalidRequestError("--promote: accepted: auto, always, never")
    prepare_kernels()
    store = Store(models_dir)
    found = unpack_(store, file, name=name, check=model_from)
    if promote == ALWAYS or (promote == AUTO and store.current(found.name) is None):
        store.promote(found.name, found.version)
    is_current = store.current(found.name) == found.version
    content = {"model": found.name, "version": found.version, "new": found.is_new}
    _tell(json, {**content, "current": is_current}, _said(found, is_current))


def diff(
    a: ModelArgument,
    b: ModelArgument,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Two models side by side: recipe, data, labels, figures, weights."""
    first, second = (stored_model(models_dir, one) for one in (a, b))
    found = difference(_described(first), _described(second))
    if str(json) != "-":
        _show(found, [f"{one.name}@{one.version}" for one in (first, second)])
    write_json(json, found)


def _described(model: Model) -> Described:
    return Described(model.manifest, model.classifier)


def _said(found: Unpacked, is_current: bool) -> str:
    reference = f"{found.name}@{found.version}"
    state = "unpacked" if found.is_new else "was there already"
    follows = "it is current" if is_current else f"labelserve models use {reference} serves it"
    return f"{reference} {state}; {follows}"


def _tell(json: Path | None, content: dict[str, Any], sentence: str) -> None:
    if str(json) != "-":
        out.print(sentence, markup=False, soft_wrap=True)
    write_json(json, content)


def _show(found: dict[str, Any], titles: list[str]) -> None:
    for part in ("recipe", "data", "figures"):
        rows = [[row["name"], _short(row["a"]), _short(row["b"])] for row in found[part]]
        _show_rows(part, ["", *titles], rows)
    labels = found["labels"]
    rows = [
        [f"only in {title}", str(labels[f"n_{side}"]), ", ".join(labels[side])]
        for side, title in zip(("only_a", "only_b"), titles, strict=True)
        if side in labels
    ]
    _show_rows("labels", ["", "labels", "such as"], rows)
    _show_weights(found["weights"], titles)


def _show_weights(weights: dict[str, Any], titles: list[str]) -> None:
    if not weights["compared"]:
        out.print("weights: not compared, as one of the two is no single linear model")
        return
    rows = [
        [row["label"], row["term"], f"{row['a']:.3f}", f"{row['b']:.3f}"]
        for row in weights["terms_moved"]
    ]
    _show_rows("weights that moved most", ["label", "term", *titles], rows, text=2)
    out.print(f"all weights moved by {weights['moved']:.1%} of their length")


def _show_rows(title: str, columns: list[str], rows: list[list[str]], *, text: int = 3) -> None:
    if rows:
        table(title, columns, rows, text=text)
    else:
        out.print(f"{title}: no difference")


def _short(value: Any) -> str:
    """The value in a cell: hashes and lists are cut, so that their names keep their place."""
    said = f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)
    return said if len(said) <= LONGEST_CELL else f"{said[:LONGEST_CELL]}…"
