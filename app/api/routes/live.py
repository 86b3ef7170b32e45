"""/models/{name}/shadow, /canary, /drift: a version tried on live traffic, and its documents."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.deps import Parts
from app.api.identity import caller_with
from app.api.openapi import problems
from app.artifacts.trials import TrialKind
from app.document_drift.figures import DriftFigure
from app.errors import ModelNotFoundError
from app.serving.identity import Identity
from app.serving.live.trial_figures import (
    CanarySide,
    ShadowFigures,
    canary_sides,
    shadow_figures,
)
from app.serving.service import Service
from app.serving.telemetry.drift_figures import drift_of

router = APIRouter(prefix="/models", tags=["models"])
Caller = Annotated[Identity, caller_with("predict")]

State = Literal["none", "loading", "failed", "current", "running"]
"""`failed`: it could not be loaded, or its pointer not be read; `current`: it is current by now."""


class TrialInfo(BaseModel):
    """A version on trial, beside the current one; figures are of this replica, all its workers."""

    model: str
    current: str | None = None
    state: State = "none"
    version: str | None = None
    share: float | None = None
    problem: str | None = None


class ShadowInfo(TrialInfo):
    """The shadow of a model, and what it agreed on with the current version."""

    figures: ShadowFigures | None = None


class CanaryInfo(TrialInfo):
    """The canary of a model, beside the version that all other callers get."""

    by: str | None = None
    sides: dict[str, CanarySide] | None = None


class DriftInfo(BaseModel):
    """How far the latest documents of a model are from those held out in its training.

    `state`: `unknown` where the version keeps no histograms of those, `waiting` until there are 200
    documents, then `quiet` or `drifted`.
    """

    model: str
    version: str | None = None
    state: Literal["unknown", "waiting", "quiet", "drifted"]
    documents: int = 0
    measures: list[DriftFigure] = []


@router.get("/{name}/shadow", responses=problems(401, 403, 404))
async def shadow(name: str, service: Parts, caller: Caller) -> ShadowInfo:
    """What the version that answers in the background agrees on with the current one."""
    found = ShadowInfo(**_trial(service, name, "shadow", caller).model_dump())
    if found.state == "running" and found.version:
        total = await service.telemetry.total()
        found.figures = shadow_figures(total, name, found.version)
    return found


@router.get("/{name}/canary", responses=problems(401, 403, 404))
async def canary(name: str, service: Parts, caller: Caller) -> CanaryInfo:
    """Errors and latency of the version that some callers get, beside those of the current one."""
    found = CanaryInfo(**_trial(service, name, "canary", caller).model_dump())
    trial = service.registry.trials.known.get((name, "canary"))
    found.by = None if trial is None else trial.by
    if found.state == "running" and found.version:
        found.sides = canary_sides(await service.telemetry.total(), name, found.version)
    return found


@router.get("/{name}/drift", responses=problems(401, 403, 404))
async def drift(name: str, service: Parts, caller: Caller) -> DriftInfo:
    """Whether the latest documents are still like those that the model was tuned on."""
    _require_known(service, name, caller)
    loaded = service.registry.loaded.get(name)
    if loaded is None or not loaded.model.has_drift_reference:
        version = None if loaded is None else loaded.model.version
        return DriftInfo(model=name, version=version, state="unknown")
    version = loaded.model.version
    every = drift_of(await service.telemetry.total())
    found = next((one for one in every if (one.model, one.version) == (name, version)), None)
    if found is None or not found.is_judged:
        documents = 0 if found is None else found.documents
        return DriftInfo(model=name, version=version, state="waiting", documents=documents)
    is_drifted = any(figure.is_drifted for figure in found.figures)
    return DriftInfo(
        model=name,
        version=version,
        state="drifted" if is_drifted else "quiet",
        documents=found.documents,
        measures=found.figures,
    )


def _trial(service: Service, name: str, kind: TrialKind, caller: Identity) -> TrialInfo:
    """What the store and the registry say of a trial."""
    _require_known(service, name, caller)
    registry = service.registry
    loaded, trial = registry.loaded.get(name), registry.trials.known.get((name, kind))
    current = None if loaded is None else loaded.model.version
    broken = registry.failures.get(f"{name}@{kind}")
    if trial is None:
        problem = None if broken is None else broken.reason
        state: State = "none" if broken is None else "failed"
        return TrialInfo(model=name, current=current, state=state, problem=problem)
    failed = registry.failures.get(f"{name}@{trial.version}") or broken
    running = registry.trials.shadows if kind == "shadow" else registry.trials.canaries
    state = "running" if name in running else "loading" if failed is None else "failed"
    return TrialInfo(
        model=name,
        current=current,
        state="current" if trial.version == current else state,
        version=trial.version,
        share=trial.share,
        problem=None if failed is None else failed.reason,
    )


def _require_known(service: Service, name: str, caller: Identity) -> None:
    names = service.registry.names
    caller.require_model(name)
    if name not in names:
        raise ModelNotFoundError([known for known in names if caller.may_use(known)])
