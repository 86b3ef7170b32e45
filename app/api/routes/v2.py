"""/v2: the Open Inference Protocol, so that KServe and its clients can call the service."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from app.api.deps import Parts
from app.api.http.bodies import read_body, refuse_encoded
from app.api.http.piecewise import PiecewiseResponse
from app.api.http.request_context import RequestContext, context_of
from app.api.identity import caller_with, take_documents
from app.api.predictor import QUICK_BYTES, Asked, Predicted, Predictor
from app.api.revalidation import Revalidation
from app.api.tensors import Answer, Call, answered, called
from app.errors import ModelUnavailableError
from app.serving.admission import Deadline
from app.serving.identity import Identity
from app.serving.registry import Loaded
from app.serving.service import Service

router = APIRouter(prefix="/v2", tags=["open inference protocol"])

ROUTE = "/v2/models/{name}/infer"
PLATFORM = "labelserve"
SCOPE = "predict"
Caller = Annotated[Identity, caller_with(SCOPE)]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` in the form that the protocol demands of errors."""
    schema = {"$ref": "#/components/schemas/ProtocolError"}
    content = {"application/json": {"schema": schema}}
    return {status: {"description": "An error", "content": content} for status in statuses}


class ServerReadiness(BaseModel):
    """Whether the server answers."""

    ready: bool


class ModelReadiness(ServerReadiness):
    """Whether a model or a version answers."""

    name: str


NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": ServerReadiness, "description": "Not ready"}
}
NOT_LOADED = errors(401, 403, 404, 422) | {503: {"model": ModelReadiness, "description": "Not now"}}


@router.get("")
async def server(request: Request) -> dict[str, Any]:
    """Name, version and extensions of the server."""
    version = request.app.version
    return {"name": PLATFORM, "version": version, "extensions": ["binary_tensor_data"]}


@router.get("/health/live")
async def live() -> dict[str, bool]:
    """Whether the process runs its loop."""
    return {"live": True}


@router.get("/health/ready", response_model=ServerReadiness, responses=NOT_READY)
async def ready(service: Parts) -> Response:
    """Whether every required model is loaded."""
    is_ready = not service.is_draining and not service.registry.missing()
    return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)


@router.get("/models/{name}", responses=errors(401, 403, 404, 422, 503))
async def model(name: str, service: Parts, caller: Caller) -> dict[str, Any]:
    """Inputs and outputs of a model."""
    return _metadata(_found(service, caller, name), service)


@router.get("/models/{name}/versions/{version}", responses=errors(401, 403, 404, 422, 503))
async def model_version(name: str, version: str, service: Parts, caller: Caller) -> dict[str, Any]:
    """Inputs and outputs of a version."""
    return _metadata(_found(service, caller, f"{name}@{version}"), service)


@router.get("/models/{name}/ready", response_model=ModelReadiness, responses=NOT_LOADED)
async def model_ready(name: str, service: Parts, caller: Caller) -> Response:
    """Whether a model answers."""
    return _readiness(service, caller, name, name)


@router.get(
    "/models/{name}/versions/{version}/ready", response_model=ModelReadiness, responses=NOT_LOADED
)
async def version_ready(name: str, version: str, service: Parts, caller: Caller) -> Response:
    """Whether a version answers."""
    return _readiness(service, caller, name, f"{name}@{version}")


CALL = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Call"}}},
    }
}
STATUSES = (400, 401, 403, 404, 413, 415, 422, 429, 503, 504)
ANSWERS = {
    200: {
        "description": "Successful Response; octets where an output is asked for in binary form.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    **errors(*STATUSES),
}


@router.post("/models/{name}/infer", response_model=None, openapi_extra=CALL, responses=ANSWERS)
async def infer(name: str, request: Request, service: Parts, caller: Caller) -> Response:
    """Predictions for a BYTES tensor of texts."""
    return await _inferred(name, request, service, caller)


@router.post(
    "/models/{name}/versions/{version}/infer",
    response_model=None,
    openapi_extra=CALL,
    responses=ANSWERS,
)
async def infer_version(
    name: str, version: str, request: Request, service: Parts, caller: Caller
) -> Response:
    """Predictions of a version for a BYTES tensor of texts."""
    return await _inferred(f"{name}@{version}", request, service, caller)


async def _inferred(
    reference: str, request: Request, service: Service, caller: Identity
) -> Response:
    context, settings = context_of(request.scope), service.settings
    predictor: Predictor = request.app.state.infer
    predictor.refuse_early(context)
    refuse_encoded(context)
    deadline = Deadline.after(settings.request_seconds)
    loaded = predictor.model(reference, caller, context)
    with service.body_budget() as budget, Revalidation(context, service, SCOPE):
        body = await read_body(request.receive, context, settings.max_body_bytes, deadline, budget)
        length = context.header(b"inference-header-content-length")
        call, texts = await predictor.run(len(body) > QUICK_BYTES, called, body, length)
        await take_documents(caller, len(texts), context, service)
        answer = await predictor.answer(
            Asked(loaded, call.query(), deadline, request.receive),
            texts,
            partial(_written, call, loaded),
        )
    context.documents = len(texts)
    return _response(answer, context, service)


def _written(call: Call, loaded: Loaded, predicted: Predicted) -> Answer:
    return answered(call, predicted.predictions, loaded.model.name, loaded.model.version)


def _response(answer: Answer, context: RequestContext, service: Service) -> Response:
    headers = {
        "content-type": answer.media_type,
        "x-model-version": context.version,
        "x-documents": str(context.documents),
    }
    if answer.header_length is not None:
        headers["inference-header-content-length"] = str(answer.header_length)
    return PiecewiseResponse(answer.pieces, headers, service)


def _found(service: Service, caller: Identity, reference: str) -> Loaded:
    caller.require_model(reference.partition("@")[0])
    return service.registry.get(reference, caller.may_use)


def _metadata(loaded: Loaded, service: Service) -> dict[str, Any]:
    is_ready_made = loaded.model.classifier.is_ready_made
    text = {"name": Call.INPUT, "datatype": "BYTES", "shape": [-1]}
    return {
        "name": loaded.model.name,
        "versions": service.registry.versions(loaded.model.name),
        "platform": PLATFORM,
        "inputs": [] if is_ready_made else [text],
        "outputs": [{"name": Call.OUTPUT, "datatype": "BYTES", "shape": [-1]}],
    }


def _readiness(service: Service, caller: Identity, name: str, reference: str) -> Response:
    try:
        _found(service, caller, reference)
    except ModelUnavailableError:
        return JSONResponse({"name": name, "ready": False}, 503)
    return JSONResponse({"name": name, "ready": True})
