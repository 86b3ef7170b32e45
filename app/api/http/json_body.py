"""Small JSON bodies, read within bounds of bytes and time."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from app.api.http.bodies import read_body, refuse_encoded
from app.api.http.request_context import context_of
from app.serving.admission import Deadline
from app.serving.service import Service

LONGEST = 65_536

Content = TypeVar("Content", bound=BaseModel)


async def json_body(request: Request, service: Service, kind: type[Content]) -> Content:
    """The body as this type; RequestValidationError where it is not."""
    context = context_of(request.scope)
    refuse_encoded(context)
    deadline = Deadline.after(service.settings.request_seconds)
    with service.body_budget() as budget:
        content = await read_body(request.receive, context, LONGEST, deadline, budget)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False)) from None


def json_schema(kind: type[BaseModel]) -> dict[str, object]:
    """What the OpenAPI document says about such a body."""
    schema = kind.model_json_schema()
    del schema["title"]  # generators of clients name the type by the operation
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}
