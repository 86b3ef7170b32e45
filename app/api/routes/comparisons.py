"""POST /comparisons: two kept evaluations of the same data, with tests of significance."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.deps import Parts
from app.api.evaluations.comparing import computed
from app.api.evaluations.comparison_schemas import ComparedEvaluations, Comparison
from app.api.evaluations.schemas import Evaluation
from app.api.evaluations.submission import SCOPE
from app.api.http.json_body import json_body, json_schema
from app.api.http.request_context import context_of
from app.api.identity import caller_with
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.errors import ConflictError
from app.serving.comparing.comparison_job import ComparisonJob
from app.serving.identity import Identity
from app.serving.jobs.archive import REPORT
from app.serving.jobs.job import Job

router = APIRouter(tags=["evaluations"])


@router.post(
    "/comparisons",
    response_model=Comparison,
    openapi_extra=json_schema(ComparedEvaluations),
    responses=problems(400, 401, 403, 404, 409, 413, 415, 422, 429, 503, 504, 507),
)
async def compare_evaluations(
    request: Request, service: Parts, caller: Annotated[Identity, caller_with(SCOPE)]
) -> Response:
    """Which of two evaluations is better, whether that may be chance, and where they differ."""
    service.unsent.refuse_if_full()
    asked = await json_body(request, service, ComparedEvaluations)
    a = await asyncio.to_thread(service.archive.get, asked.a, caller.may_use)
    b = await asyncio.to_thread(service.archive.get, asked.b, caller.may_use)
    kept = [await asyncio.to_thread(service.archive.result, job, REPORT) for job in (a, b)]
    if a.data != b.data:
        raise ConflictError("the two evaluations cannot be compared: they are of different data")

    def job(folder: Path) -> ComparisonJob:
        described = {"a": _described(a), "b": _described(b)}
        return ComparisonJob(folder, kept[0].parent, kept[1].parent, described)

    models = [a.model, b.model]
    revalidation = Revalidation(context_of(request.scope), service, SCOPE, models)
    return await computed(request, service, revalidation, job)


def _described(job: Job) -> dict[str, Any]:
    return Evaluation.of(job).model_dump(mode="json")
