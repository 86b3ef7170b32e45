"""Comparisons and leaderboards on their way: bounded, at low priority, never on the loop."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from fastapi import Request
from starlette.responses import Response

from app.api.http.bodies import client_gone
from app.api.http.piecewise import PiecewiseResponse
from app.serving.admission import Deadline
from app.serving.evaluating import ProcessJob, evaluated
from app.serving.service import Service


async def computed(
    request: Request,
    service: Service,
    revalidation: AbstractContextManager[object],
    job: Callable[[Path], ProcessJob],
) -> Response:
    """What the job finds out, given a folder for it, as JSON; its process is gone then.

    It ends when the client leaves, or its key counts no longer.
    """
    deadline = Deadline.after(service.settings.evaluate_seconds)
    with (
        revalidation,
        service.comparisons.admit(1),
        service.spool.folder() as folder,
    ):
        found = await evaluated(job(folder), deadline, client_gone(request.receive))
    return PiecewiseResponse(found.pieces, {"content-type": "application/json"}, service)
