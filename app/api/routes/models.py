"""/models: what is loaded, what failed to load and why, a model's labels, its current version."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from app.api.deps import Parts
from app.api.identity import caller_with
from app.api.model_descriptions import (
    CurrentVersion,
    ModelCard,
    ModelInfo,
    model_card,
    model_info,
)
from app.api.openapi import problems
from app.classifier import Classifier
from app.errors import ModelNotFoundError
from app.prediction.expected_curve import expected_curve
from app.prediction.label_profile import LabelProfile, label_profile
from app.serving.identity import Identity

router = APIRouter(prefix="/models", tags=["models"])
PAGE = 1000
Result = TypeVar("Result")

Caller = Annotated[Identity, caller_with("predict")]
Admin = Annotated[Identity, caller_with("admin")]
ONE_THREAD = ThreadPoolExecutor(1, thread_name_prefix="describe")
"""For what reads a whole model: however many ask, predictions keep the other threads."""


class ModelList(BaseModel):
    """Every model this caller may use."""

    default: str | None = None
    models: list[ModelInfo]


class LabelPage(BaseModel):
    """Some of a model's labels in code-point order; `cursor` asks for the next page.

    `names` has those that the model knows, by label.
    """

    labels: list[str]
    names: dict[str, str] | None = None
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
    label_cardinality: float
    """Labels that such a document has on average. Micro, `recall / precision` times this many are
    assigned to one."""
    points: list[ExpectedPoint]


@router.get("", response_model_exclude_none=True, responses=problems(401, 403))
async def models(service: Parts, caller: Caller) -> ModelList:
    """What is loaded, what is being loaded, and what failed to load and why."""
    names = [name for name in service.registry.names if caller.may_use(name)]
    default = service.settings.default_model
    return ModelList(default=default, models=[model_info(service.registry, name) for name in names])


@router.get("/{name}", response_model_exclude_none=True, responses=problems(401, 403, 404))
async def model(name: str, service: Parts, caller: Caller) -> ModelInfo:
    """One model."""
    _require_known(name, service.registry.names, caller)
    return model_info(service.registry, name)


@router.get("/{name}/card", response_model_exclude_none=True, responses=problems(401, 403, 404))
async def card(name: str, service: Parts, caller: Caller) -> ModelCard:
    """One model in full: data, recipe, figures, sizes, timings, and every version there is."""
    _require_known(name, service.registry.names, caller)
    return await _in_thread(model_card, service.registry, name)


@router.put(
    "/{name}/current",
    response_model_exclude_none=True,
    responses=problems(401, 403, 404, 409, 422, 507),
)
async def promote(name: str, body: CurrentVersion, service: Parts, caller: Admin) -> ModelInfo:
    """Promote a version, or roll back to one: once it is verified, it answers everywhere."""
    names = await asyncio.to_thread(service.registry.store.names)
    _require_known(name, names, caller)
    await asyncio.to_thread(service.promote, name, body.version, caller.name)
    return model_info(service.registry, name)


@router.get(
    "/{name}/label",
    response_model_exclude_none=True,
    responses=problems(401, 403, 404, 422, 503),
)
async def label(
    name: str,
    service: Parts,
    caller: Caller,
    response: Response,
    label: Annotated[str, Query(max_length=20_000, description="One of the model's labels.")],
    terms: Annotated[int, Query(ge=1, le=100, description="So many for it and against it.")] = 20,
) -> LabelProfile:
    """One label: its cut, its held-out counts and hull, the terms for it and against it."""
    caller.require_model(name)
    model = service.registry.get(name, caller.may_use).model
    response.headers["x-model-version"] = model.version
    counts = model.training_counts
    return await _in_thread(label_profile, model.classifier, counts, label, terms)


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
    expected = await asyncio.to_thread(expected_curve, model.classifier, average)
    hulls = model.classifier.hulls
    return ExpectedCurve(
        model=name,
        version=model.version,
        average=average,
        documents=0 if hulls is None else hulls.n_documents,
        label_cardinality=0.0 if hulls is None else hulls.n_positives / max(hulls.n_documents, 1),
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
    q: Annotated[str, Query(max_length=200, description="Part of a label or its name.")] = "",
    cursor: Annotated[str, Query(max_length=2000, description="From the page before.")] = "",
) -> LabelPage:
    """A model's labels, a thousand at a time."""
    caller.require_model(name)
    classifier = service.registry.get(name, caller.may_use).model.classifier
    return await asyncio.to_thread(_page, classifier, q.casefold(), cursor)


def _page(classifier: Classifier, wanted: str, cursor: str) -> LabelPage:
    """The labels behind the cursor that have this in them or their names; may be a million."""
    labels, taxonomy = classifier.answered_labels.names, classifier.taxonomy
    names = repeat("") if taxonomy is None else taxonomy.names
    rest = [
        (label, name)
        for label, name in zip(labels, names, strict=False)
        if label > cursor and (wanted in label.casefold() or wanted in name.casefold())
    ]
    shown = rest[:PAGE]
    return LabelPage(
        labels=[label for label, _ in shown],
        names=None if taxonomy is None else {label: name for label, name in shown if name},
        cursor=shown[-1][0] if len(rest) > PAGE else None,
    )


def _require_known(name: str, names: list[str], caller: Identity) -> None:
    caller.require_model(name)
    if name not in names:
        raise ModelNotFoundError([known for known in names if caller.may_use(known)])


async def _in_thread(work: Callable[..., Result], *arguments: Any) -> Result:
    return await asyncio.get_running_loop().run_in_executor(ONE_THREAD, work, *arguments)
