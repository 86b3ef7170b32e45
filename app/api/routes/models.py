"""GET /models: what is loaded, what failed to load and why, and a model's labels."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.api.deps import Parts
from app.api.identity import caller_with
from app.api.openapi import problems
from app.errors import InvalidRequestError, ModelNotFoundError
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service

router = APIRouter(prefix="/models", tags=["models"])
PAGE = 1000

Caller = Annotated[Identity, caller_with("predict")]


class Failed(BaseModel):
    """A version that could not be loaded, and why."""

    version: str
    reason: str


class ModelInfo(BaseModel):
    """One model: the version that answers, all that can be named, one that failed to load."""

    name: str
    version: str | None = None
    versions: list[str] | None = None
    learner: str | None = None
    vectorizer: str | None = None
    decision: str | None = None
    labels: int | None = None
    features: int | None = None
    created: str | None = None
    figures: dict[str, Any] | None = None
    failed: Failed | None = None


class ModelList(BaseModel):
    """Every model this caller may use."""

    default: str | None = None
    models: list[ModelInfo]


class LabelPage(BaseModel):
    """Some of a model's labels in code-point order; `cursor` asks for the next page."""

    labels: list[str]
    cursor: str | None = None


class ExpectedPoint(BaseModel):
    """What to expect of new documents at one point of the curve, with 90 % intervals."""

    precision: float
    recall: float
    precision_interval: list[float] | None = None
    recall_interval: list[float] | None = None


class ExpectedCurve(BaseModel):
    """Expected precision and recall along a model's best points, by rising recall."""

    model: str
    version: str
    average: str
    documents: int
    """How many held-out documents it rests on."""
    points: list[ExpectedPoint]


@router.get("", response_model_exclude_none=True, responses=problems(401, 403))
async def models(service: Parts, caller: Caller) -> ModelList:
    """What is loaded, and what failed to load and why."""
    names = [name for name in service.registry.names if caller.may_use(name)]
    default = service.settings.default_model
    return ModelList(default=default, models=[_info(service, name) for name in names])


@router.get("/{name}", response_model_exclude_none=True, responses=problems(401, 403, 404))
async def model(name: str, service: Parts, caller: Caller) -> ModelInfo:
    """One model."""
    caller.require_model(name)
    if name not in service.registry.names:
        raise ModelNotFoundError([n for n in service.registry.names if caller.may_use(n)])
    return _info(service, name)


@router.get(
    "/{name}/curve",
    response_model_exclude_none=True,
    responses=problems(401, 403, 404, 422, 503),
)
async def curve(
    name: str,
    service: Parts,
    caller: Caller,
    average: Annotated[Literal["micro", "macro"], Query(description="How labels count.")] = "micro",
) -> ExpectedCurve:
    """What operating points can be expected to reach: precision and recall, with intervals."""
    caller.require_model(name)
    model = service.registry.get(name, caller.may_use).model
    points, hulls = model.classifier.operating_points, model.classifier.hulls
    if points is None or hulls is None:
        raise InvalidRequestError(
            "this model was not tuned on held-out scores, so it has no curve: train it with folds"
        )
    expected = await asyncio.to_thread(points.curve, average)
    return ExpectedCurve(
        model=name,
        version=model.version,
        average=average,
        documents=hulls.n_documents,
        points=[ExpectedPoint(**point._asdict()) for point in expected],
    )


@router.get(
    "/{name}/labels",
    response_model_exclude_none=True,
    responses=problems(401, 403, 404, 422, 503),
)
async def labels(
    name: str,
    service: Parts,
    caller: Caller,
    q: Annotated[str, Query(max_length=200, description="Part of a label's name.")] = "",
    cursor: Annotated[str, Query(max_length=2000, description="From the page before.")] = "",
) -> LabelPage:
    """A model's labels, a thousand at a time."""
    caller.require_model(name)
    names = service.registry.get(name, caller.may_use).model.classifier.labels.names
    wanted = q.casefold()
    rest = [label for label in names if label > cursor and wanted in label.casefold()]
    more = rest[PAGE - 1] if len(rest) > PAGE else None
    return LabelPage(labels=rest[:PAGE], cursor=more)


def _info(service: Service, name: str) -> ModelInfo:
    failure, loaded = service.registry.failures.get(name), service.registry.loaded.get(name)
    failed = None if failure is None else Failed(version=failure.version, reason=failure.reason)
    if loaded is None:
        return ModelInfo(name=name, failed=failed)
    versions = service.registry.versions(name)
    return _described(loaded).model_copy(update={"failed": failed, "versions": versions})


def _described(loaded: Loaded) -> ModelInfo:
    found, manifest = loaded.model, loaded.model.manifest
    members = found.classifier.members
    return ModelInfo(
        name=found.name,
        version=found.version,
        learner="+".join(member.learner.kind for member in members),
        vectorizer="+".join(member.vectorizer.kind for member in members),
        decision=found.classifier.decision.name,
        labels=manifest.labels,
        features=sum(member.vectorizer.n_features for member in members),
        created=manifest.created,
        figures=manifest.figures,
    )
