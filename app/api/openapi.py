"""The OpenAPI document: FastAPI's, with the thin routes' schemas and our errors in it."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from app.api.errors import Problem, ProtocolError
from app.api.examples import add_example
from app.api.schemas import PredictRequest, PredictResponse, components
from app.api.tensors import Call

MEDIA_TYPE = "application/problem+json"


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` of a route for the errors it may answer with."""
    return {status: _problem(status) for status in statuses}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    found = get_openapi(title=app.title, version=app.version, routes=app.routes)
    found["servers"] = [{"url": app.state.service.settings.root_path or "/"}]
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(components(PredictRequest, PredictResponse, Call, Problem, ProtocolError))
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operation in _operations(found):
        _describe(operation)
        add_example(operation)
    return found


def operation_id(route: APIRoute) -> str:
    """What generators of clients call an operation: the route's name, `v2_…` below /v2."""
    return f"v2_{route.name}" if f"{route.path_format}/".startswith("/v2/") else route.name


def _operations(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in found["paths"].values() for operation in path.values()]


def _describe(operation: dict[str, Any]) -> None:
    """Errors as we send them, and the header that every answer has."""
    responses = operation["responses"]
    validation = responses.get("422", {}).get("content", {}).get("application/json", {})
    if validation.get("schema", {}).get("$ref", "").endswith("HTTPValidationError"):
        responses["422"] = _problem(422)
    if operation.get("security"):  # a key may have reached its limits
        responses.setdefault("429", {**responses["403"], "description": "Too Many Requests"})
    for response in responses.values():
        response.setdefault("headers", {})["X-Request-ID"] = {
            "description": "The id sent with the request, or a new one.",
            "schema": {"type": "string"},
            "required": True,
        }


def _problem(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
