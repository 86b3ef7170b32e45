"""GET /metrics: the service's own figures, for Prometheus."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from app.api.deps import Parts
from app.api.identity import caller_with
from app.api.openapi import problems
from app.serving.identity import Identity

router = APIRouter(tags=["operate"])

MEDIA_TYPE = "text/plain; version=1.0.0; charset=utf-8"


@router.get("/metrics", response_class=PlainTextResponse, responses=problems(401, 403))
async def metrics(service: Parts, _: Annotated[Identity, caller_with("admin")]) -> Response:
    """All counters, of all workers, in Prometheus's text format."""
    return Response(await service.telemetry.text(), media_type=MEDIA_TYPE)
