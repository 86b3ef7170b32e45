"""GET /leaderboards/{sha256}: all kept evaluations of one data set, the best first."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.deps import Parts
from app.api.evaluations.comparing import computed
from app.api.evaluations.comparison_schemas import Leaderboard
from app.api.evaluations.schemas import Evaluation
from app.api.evaluations.submission import SCOPE
from app.api.http.request_context import context_of
from app.api.identity import caller_with
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.errors import EvaluationNotFoundError
from app.serving.comparing.leaderboard_job import LeaderboardJob
from app.serving.identity import Identity
from app.serving.jobs.archive import REPORT, EvaluationArchive
from app.serving.jobs.job import Job
from app.serving.jobs.job_table import JobFilter

router = APIRouter(tags=["evaluations"])


class LeaderboardQuery(BaseModel):
    """What the rows are ordered by."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    figure: str = Field(
        "micro.f1", max_length=100, description="A figure of the reports, as `figures` names them."
    )


@router.get(
    "/leaderboards/{sha256}",
    response_model=Leaderboard,
    responses=problems(401, 403, 404, 422, 429, 503, 504, 507),
)
async def leaderboard(
    sha256: str,
    request: Request,
    service: Parts,
    caller: Annotated[Identity, caller_with(SCOPE)],
    query: Annotated[LeaderboardQuery, Query()],
) -> Response:
    """The newest hundred evaluations of the data with this `data.sha256`, in order.

    One row for each model version and decision, the best twenty; every two of them are tested.
    """
    service.unsent.refuse_if_full()
    may_see = caller.may_use if caller.models else None
    wanted = JobFilter(data=sha256, state="done")
    page = await asyncio.to_thread(service.archive.page, wanted, None, may_see)
    if not page.jobs:
        raise EvaluationNotFoundError
    ours, elsewhere = await asyncio.to_thread(_stored, service.archive, page.jobs)
    described = {job.id: Evaluation.of(job).model_dump(mode="json") for job in page.jobs}

    def job(folder: Path) -> LeaderboardJob:
        return LeaderboardJob(folder, sha256, query.figure, ours, described, elsewhere)

    models = sorted({job.model for job in page.jobs})
    revalidation = Revalidation(context_of(request.scope), service, SCOPE, models)
    return await computed(request, service, revalidation, job)


def _stored(archive: EvaluationArchive, jobs: list[Job]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Where the results lie, by id; and the ids of those that another data folder has."""
    ours = [job for job in jobs if job.storage == archive.storage]
    others = tuple(job.id for job in jobs if job.storage != archive.storage)
    return {job.id: archive.result(job, REPORT).parent for job in ours}, others
