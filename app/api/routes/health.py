"""GET /health/live and /health/ready: for probes; open, and outside every limit."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from app.api.deps import Parts

router = APIRouter(prefix="/health", tags=["health"])


class Health(BaseModel):
    """How it stands: `status`, and for readiness what is still missing."""

    status: str
    missing: list[str] = []


@router.get("/live", response_model=Health)
async def live() -> Response:
    """200 as long as the process runs its loop."""
    return JSONResponse({"status": "live", "missing": []})


@router.get(
    "/ready",
    response_model=Health,
    responses={503: {"model": Health, "description": "Not ready: draining, or models are missing"}},
)
async def ready(service: Parts) -> Response:
    """200 when every required model is loaded; 503 before, and from the first moment of a drain."""
    if service.is_draining:
        return JSONResponse({"status": "draining", "missing": []}, status_code=503)
    missing = service.registry.missing()
    status = "not ready" if missing else "ready"
    return JSONResponse({"status": status, "missing": missing}, status_code=503 if missing else 200)
