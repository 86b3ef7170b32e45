"""`models shadow`, `canary` and `settle`: versions that are tried on live traffic."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.artifacts.store import Store
from app.artifacts.trials import KINDS, TrialKind, VersionTrial
from app.cli.stored_models import MODELS, ModelArgument, ModelsDir, resolved
from app.cli.terminal import Json, out, prepare_kernels, write_json
from app.errors import ConflictError, InvalidRequestError
from app.model import load_model

Tried = Annotated[str, typer.Argument(metavar="NAME@VERSION", help="The version to try.")]
Share = Annotated[float, typer.Option(help="Above 0, and at most 1.")]


def shadow(model: Tried, share: Share, models_dir: ModelsDir = MODELS, json: Json = None) -> None:
    """Have a version answer a share of the documents too, unseen."""
    trial, name = _begun(model, "shadow", share, None, models_dir)
    documents = "every document" if share == 1 else f"{share:g} of the documents"
    said = f"{name}@{trial.version} answers {documents} of {name} in the background"
    _tell(json, {"model": name, "shadow": trial.version, "share": share}, said)


def canary(
    model: Tried,
    share: Share,
    by: Annotated[
        str | None, typer.Option(metavar="HEADER", help="Tells callers apart; omitted: who calls.")
    ] = None,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """Have a version answer a share of the callers."""
    trial, name = _begun(model, "canary", share, by, models_dir)
    callers = "every caller" if share == 1 else f"{share:g} of the callers"
    told_by = f", told apart by {trial.by}" if trial.by else ""
    said = f"{name}@{trial.version} answers {callers} of {name}{told_by}"
    content = {"model": name, "canary": trial.version, "share": share, "by": trial.by}
    _tell(json, content, said)


def settle(
    model: ModelArgument,
    promote: Annotated[bool, typer.Option("--promote", help="Make it current.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Leave what is current.")] = False,
    models_dir: ModelsDir = MODELS,
    json: Json = None,
) -> None:
    """End the trials of a model, or those of NAME@VERSION alone."""
    if promote == drop:
        raise InvalidRequestError("say how it ends: --promote or --drop")
    store = Store(models_dir)
    name, at, version = model.partition("@")
    resolved(store, model)
    ended = _trials(store, name, version if at else None)
    if promote:
        _promote(store, name, {trial.version for trial in ended.values()})
    for kind in ended:
        store.end_trial(name, kind)
    current = store.current(name)
    tried = ", ".join(f"{kind} {trial.version}" for kind, trial in ended.items())
    content = {"model": name, "ended": list(ended), "current": current, "promoted": promote}
    _tell(json, content, f"{name}: ended: {tried}; {current} is current")


def _begun(
    reference: str, kind: TrialKind, share: float, by: str | None, models_dir: Path
) -> tuple[VersionTrial, str]:
    """The trial, begun once its version is verified, and the model's name."""
    if "@" not in reference:
        raise InvalidRequestError(f"a {kind} is NAME@VERSION: a version that is not current")
    store = Store(models_dir)
    name, version = resolved(store, reference)
    trial = VersionTrial(version, share, by.lower() if by else None)
    prepare_kernels()
    load_model(store, f"{name}@{version}")
    store.begin_trial(name, kind, trial)
    return trial, name


def _trials(store: Store, name: str, version: str | None) -> dict[TrialKind, VersionTrial]:
    found = {kind: store.trial(name, kind) for kind in KINDS}
    tried = {kind: trial for kind, trial in found.items() if trial is not None}
    chosen = {k: trial for k, trial in tried.items() if version in (None, trial.version)}
    if not chosen:
        raise ConflictError(f"no version of {name} is on trial" + (" by that id" if tried else ""))
    return chosen


def _promote(store: Store, name: str, versions: set[str]) -> None:
    if len(versions) > 1:
        each = " or ".join(f"{name}@{version}" for version in sorted(versions))
        raise InvalidRequestError(f"two versions are on trial: settle {each}")
    (version,) = versions
    prepare_kernels()
    load_model(store, f"{name}@{version}")
    store.promote(name, version)


def _tell(json: Path | None, content: dict[str, Any], sentence: str) -> None:
    if str(json) != "-":
        out.print(sentence, markup=False, soft_wrap=True)
    write_json(json, content)
