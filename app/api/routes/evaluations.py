"""/evaluations: test sets handed in, their evaluations while they run, and what is kept of them."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.deps import Parts
from app.api.evaluations.events import MEDIA_TYPE, EvaluationEvents
from app.api.evaluations.query import EvaluationsQuery, body
from app.api.evaluations.schemas import (
    DataChecks,
    Evaluation,
    EvaluationBatch,
    EvaluationChange,
    EvaluationPage,
)
from app.api.evaluations.submission import PATH, SCOPE, Submission, accepted
from app.api.http.json_body import json_body, json_schema
from app.api.http.negotiation import preferred
from app.api.http.piecewise import PiecewiseResponse
from app.api.http.request_context import context_of
from app.api.identity import caller_with
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.errors import EvaluationNotFoundError
from app.serving.identity import Identity
from app.serving.jobs.archive import REPORT, REPORT_PAGE
from app.serving.jobs.job import State
from app.serving.jobs.job_table import JobFilter
from app.serving.unsent_answers import Pieces, of_file

NAME, HASH, ID = r"^[a-z0-9][a-z0-9._-]{0,63}$", r"^[0-9a-f]{64}$", r"^[0-9a-f]{32}$"
CURSOR = r"^[0-9]{1,12}(\.[0-9]{1,9})?-[0-9a-f]{32}$"
router = APIRouter(prefix=PATH, tags=["evaluations"])

Caller = Annotated[Identity, caller_with(SCOPE)]
JSON, HTML = "application/json", "text/html; charset=utf-8"
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)
"""The page is of an origin of its own: its script reaches no key that another page has."""


@router.post(
    "",
    status_code=202,
    response_model=EvaluationBatch,
    openapi_extra={"requestBody": body(several=True)},
    responses={
        200: {"model": DataChecks, "description": "With `check=true`: what was read."},
        **problems(400, 401, 403, 404, 413, 415, 422, 429, 503, 504, 507),
    },
)
async def submit_evaluations(
    request: Request, service: Parts, caller: Caller, query: Annotated[EvaluationsQuery, Query()]
) -> Response:
    """Hand in one evaluation for every model and file; a worker takes them one after another."""
    context = context_of(request.scope)
    submission = await Submission.of(service, caller, context, query)
    with Revalidation(context, service, SCOPE, submission.names):
        if query.check:
            return _json(DataChecks(checks=await submission.checks(request)))
        return await accepted(service, await submission.handed_in(request))


class EvaluationsFilter(BaseModel):
    """Which evaluations are listed: those that have everything that is named."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    model: str | None = Field(None, pattern=NAME, description="A model's name.")
    data: str | None = Field(None, pattern=HASH, description="`data.sha256` of their reports.")
    batch: str | None = Field(None, pattern=ID, description="What one request handed in.")
    state: State | None = Field(None, description="How far they are.")
    cursor: str | None = Field(None, pattern=CURSOR, description="From the page before.")


@router.get("", response_model=EvaluationPage, responses=problems(401, 403, 422, 503, 507))
async def evaluations(
    service: Parts, caller: Caller, query: Annotated[EvaluationsFilter, Query()]
) -> Response:
    """Evaluations of models that the caller may use, the newest first, a hundred at a time."""
    wanted = JobFilter(query.model, query.data, batch=query.batch, state=query.state)
    may_see = caller.may_use if caller.models else None

    def listed() -> Response:
        page = service.archive.page(wanted, query.cursor, may_see)
        found = [Evaluation.of(job) for job in page.jobs]
        return _json(EvaluationPage(evaluations=found, cursor=page.cursor))

    return await asyncio.to_thread(listed)


@router.get("/{id}", responses=problems(401, 403, 404, 503, 507))
async def evaluation(id: str, service: Parts, caller: Caller) -> Evaluation:
    """One evaluation, with its progress."""
    return Evaluation.of(await asyncio.to_thread(service.archive.get, id, caller.may_use))


@router.patch(
    "/{id}",
    openapi_extra=json_schema(EvaluationChange),
    responses=problems(401, 403, 404, 413, 415, 422, 503, 504, 507),
)
async def update_evaluation(
    id: str, request: Request, service: Parts, caller: Caller
) -> Evaluation:
    """Pin an evaluation, so that retention leaves it alone, or write a note to it."""
    change = await json_body(request, service, EvaluationChange)
    update = partial(service.archive.update, pinned=change.pinned, note=change.note)
    return Evaluation.of(await asyncio.to_thread(update, id, caller.may_use))


@router.delete(
    "/{id}",
    status_code=202,
    response_model=Evaluation,
    responses={
        204: {"description": "It had ended, and is gone with its report and its data."},
        **problems(401, 403, 404, 503, 507),
    },
)
async def delete_evaluation(id: str, service: Parts, caller: Caller) -> Response:
    """Cancel an evaluation that has not ended, or remove one that has."""
    job = await asyncio.to_thread(service.archive.cancel_or_remove, id, caller.may_use)
    return Response(status_code=204) if job is None else _json(Evaluation.of(job), 202)


@router.get(
    "/{id}/report",
    response_model=None,
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}},
        **problems(401, 403, 404, 409, 503, 507),
    },
)
async def evaluation_report(id: str, request: Request, service: Parts, caller: Caller) -> Response:
    """The report of docs/metrics.md, as JSON, or as a page for who accepts HTML rather."""
    service.unsent.refuse_if_full()
    job = await asyncio.to_thread(service.archive.get, id, caller.may_use)
    context = context_of(request.scope)
    context.model, context.version = job.model, job.version
    is_page = preferred(context.header(b"accept"), (JSON, "text/html")) != JSON
    file = service.archive.result(job, REPORT_PAGE if is_page else REPORT)
    headers = {"content-type": HTML if is_page else JSON, "vary": "accept"}
    if is_page:
        headers["content-security-policy"] = REPORT_POLICY
    pieces = await asyncio.to_thread(_pieces, file)
    return PiecewiseResponse(pieces, {**headers, "x-model-version": job.version}, service)


@router.get(
    "/{id}/events",
    response_class=Response,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {}}}},
        **problems(401, 403, 404, 503, 507),
    },
)
async def evaluation_events(id: str, request: Request, service: Parts, caller: Caller) -> Response:
    """Server-sent events: `progress` when something changes, `end` at the end."""
    job = await asyncio.to_thread(service.archive.get, id, caller.may_use)
    revalidation = Revalidation(context_of(request.scope), service, SCOPE, [job.model])
    return EvaluationEvents(job, caller, service, revalidation)


def _json(content: BaseModel, status: int = 200) -> Response:
    return Response(content.model_dump_json(), status, media_type=JSON)


def _pieces(file: Path) -> Pieces:
    try:
        return of_file(file)
    except FileNotFoundError:  # it was removed since its row was read
        raise EvaluationNotFoundError from None
