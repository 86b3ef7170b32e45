"""POST /evaluate: a labelled test set in, the report of docs/metrics.md out."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api.deps import Parts
from app.api.evaluations.query import EvaluateQuery, EvaluationsQuery, body
from app.api.evaluations.schemas import EvaluationBatch
from app.api.evaluations.submission import SCOPE, Submission, accepted
from app.api.http.bodies import client_gone
from app.api.http.piecewise import PiecewiseResponse
from app.api.http.request_context import RequestContext, context_of
from app.api.http.uploads import FileReceiver, format_of, spooled
from app.api.identity import caller_with, take_documents
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.errors import DrainingError
from app.evaluation.deciders import decider
from app.serving.admission import Deadline
from app.serving.evaluating import Evaluated, EvaluationJob, evaluated
from app.serving.identity import Identity
from app.serving.service import Service

router = APIRouter(tags=["evaluate"])

PATH = "/evaluate"
RESPOND_ASYNC = b"respond-async"


@router.post(
    PATH,
    response_model=None,
    openapi_extra={"requestBody": body(several=False)},
    responses={
        202: {"model": EvaluationBatch, "description": "With `Prefer: respond-async`."},
        **problems(400, 401, 403, 404, 413, 415, 422, 429, 503, 504, 507),
    },
)
async def evaluate(
    request: Request,
    service: Parts,
    caller: Annotated[Identity, caller_with(SCOPE)],
    parameters: Annotated[EvaluateQuery, Query()],
) -> Response:
    """The report on a labelled test set; nothing is tuned on it, and it is deleted afterwards.

    With `Prefer: respond-async` it is handed in as by `POST /evaluations`.
    """
    context = context_of(request.scope)
    if RESPOND_ASYNC in context.header(b"prefer").lower():
        query = EvaluationsQuery(**parameters.model_dump())
        submission = await Submission.of(service, caller, context, query)
        with Revalidation(context, service, SCOPE, submission.names):
            jobs = await submission.handed_in(request, most_files=1)
            answer = await accepted(service, jobs)
        answer.headers["preference-applied"] = RESPOND_ASYNC.decode()
        return answer
    deadline = Deadline.after(service.settings.evaluate_seconds)
    if service.is_draining:
        raise DrainingError("the service is shutting down; ask another replica")
    service.unsent.refuse_if_full()
    if parameters.model is not None:
        caller.require_model(parameters.model.partition("@")[0])
    loaded = service.registry.get(parameters.model, caller.may_use)
    caller.require_model(loaded.model.name)
    options = parameters.options()
    by_type = format_of(context)  # checks media type and encoding, whatever format is named
    reading = parameters.reading(by_type, service.settings.max_upload_bytes)
    await take_documents(caller, 0, context, service)
    await asyncio.to_thread(decider, options.decision, loaded.model.classifier)
    context.model, context.version = loaded.model.name, loaded.model.version
    with (
        Revalidation(context, service, SCOPE),
        service.evaluations.admit(1),
        service.spool.folder() as folder,
    ):
        receiver = FileReceiver(folder, service.settings.max_upload_bytes)
        (received,) = await spooled(request.receive, context, receiver, service, deadline)
        reference = f"{loaded.model.name}@{loaded.model.version}"
        job = EvaluationJob(
            service.settings.models_dir, reference, received.path, folder, reading, options
        )
        report = await evaluated(job, deadline, client_gone(request.receive))
    answer = _answer(report, context, service)
    await service.quotas.count_documents(caller, context.documents)
    return answer


def _answer(found: Evaluated, context: RequestContext, service: Service) -> Response:
    context.documents = found.figures.documents
    service.telemetry.documents.labels(context.model, PATH).inc(context.documents)
    for stage, seconds in found.figures.seconds.items():
        service.telemetry.stages.labels(stage).observe(seconds)
    headers = {
        "content-type": "application/json",
        "x-model-version": context.version,
        "x-documents": str(context.documents),
    }
    return PiecewiseResponse(found.pieces, headers, service)
