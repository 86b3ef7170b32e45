"""POST /evaluate: a labelled test set in, the report of docs/metrics.md out."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.deps import Parts
from app.api.http.bodies import client_gone
from app.api.http.request_context import RequestContext, context_of
from app.api.http.uploads import GUESSED, MULTIPART, NAMED, format_of, spooled
from app.api.identity import caller_with, take_documents
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.datasets.base import ReadOptions
from app.datasets.input.source import Limits
from app.decisions.base import Use
from app.decisions.parser import accepted
from app.errors import DrainingError
from app.evaluation.deciders import decider
from app.evaluation.options import EvaluationOptions, parse_k
from app.serving.admission import Deadline
from app.serving.evaluating import EvaluationJob, evaluated
from app.serving.identity import Identity
from app.serving.service import Service

router = APIRouter(tags=["evaluate"])

PATH, SCOPE = "/evaluate", "evaluate"
MAX_RATIO = 200.0
MAX_LINE_BYTES = 16 << 20
MAX_LABELS = 1_000_000
MAX_WINDOW = 8 << 20
"""Memory that Zstandard data may ask for: what its specification wants every decoder to offer."""
COLUMN = r'^[^\x00-\x1f"\\]+$'
"""Names that every format can have: no control characters, no quotes."""
DECISIONS = f"How labels are decided, one of: {accepted(Use.EVALUATION)}."


class Parameters(BaseModel):
    """The query: how to read the test set, and how to count."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    model: str | None = Field(None, max_length=200, description="`NAME` or `NAME@VERSION`.")
    k: str = Field("1,3,5", max_length=200, description="Ranks to measure at.")
    decision: str = Field("tuned", max_length=40, description=DECISIONS)
    beta: float = Field(1.0, gt=0, le=1000, allow_inf_nan=False, description="β of F_β.")
    zero_division: Literal["0", "1", "skip"] = Field("0", description="What 0/0 counts as.")
    include_test_labels: bool = Field(False, description="Count labels that were never trained.")
    unlabelled: Literal["keep", "drop"] = Field("keep", description="Documents without labels.")
    bootstrap: int = Field(0, ge=0, le=10_000, description="Resamples for confidence intervals.")
    format: Literal["auto", "tsv", "jsonl", "csv", "svmlight"] | None = Field(
        None, description="The data format, where the media type does not say it."
    )
    label_separator: str = Field("|", min_length=1, max_length=10, description="In tables.")
    text_columns: str = Field(
        "text", max_length=1000, pattern=COLUMN, description="Columns or fields, comma-separated."
    )
    label_column: str = Field(
        "labels", max_length=200, pattern=COLUMN, description="The column or field of labels."
    )
    on_error: Literal["fail", "skip"] = Field("fail", description="Bad records: fail or skip.")

    def options(self) -> EvaluationOptions:
        """How to count."""
        return EvaluationOptions(
            k=parse_k(self.k),
            decision=self.decision,
            beta=self.beta,
            zero_division=self.zero_division,
            include_test_labels=self.include_test_labels,
            unlabelled=self.unlabelled,
            bootstrap=self.bootstrap,
        )

    def reading(self, context: RequestContext, max_bytes: int) -> ReadOptions:
        """How to read, with every bound that holds over HTTP."""
        by_type = format_of(context)  # checks media type and encoding, whatever format is named
        return ReadOptions(
            format=self.format or by_type,
            text_columns=tuple(self.text_columns.split(",")),
            label_column=self.label_column,
            label_separator=self.label_separator,
            on_error=self.on_error,
            limits=Limits(
                max_line_bytes=MAX_LINE_BYTES,
                max_bytes=max_bytes,
                max_ratio=MAX_RATIO,
                max_labels=MAX_LABELS,
                max_window=MAX_WINDOW,
            ),
        )


FILE = {"type": "string", "format": "binary"}
FORM = {"type": "object", "properties": {"file": FILE}, "required": ["file"]}
BODY = {
    "required": True,
    "description": f"A test set. Media types that say its format: {', '.join(NAMED)}; with others "
    "the parameter `format` says it, or it is guessed.",
    "content": {GUESSED.decode(): {"schema": FILE}, MULTIPART.decode(): {"schema": FORM}},
}
"""With the media types that generators of clients know; the others say no more than `format`."""


@router.post(
    PATH,
    response_model=None,
    openapi_extra={"requestBody": BODY},
    responses=problems(400, 401, 403, 404, 413, 415, 422, 429, 503, 504, 507),
)
async def evaluate(
    request: Request,
    service: Parts,
    caller: Annotated[Identity, caller_with(SCOPE)],
    parameters: Annotated[Parameters, Query()],
) -> Response:
    """The report on a labelled test set; nothing is tuned on it, and it is deleted afterwards."""
    context, deadline = context_of(request.scope), Deadline.after(service.settings.evaluate_seconds)
    if service.is_draining:
        raise DrainingError("the service is shutting down; ask another replica")
    if parameters.model is not None:
        caller.require_model(parameters.model.partition("@")[0])
    loaded = service.registry.get(parameters.model, caller.may_use)
    caller.require_model(loaded.model.name)
    options = parameters.options()
    reading = parameters.reading(context, service.settings.max_upload_bytes)
    await take_documents(caller, 0, context, service)
    await asyncio.to_thread(decider, options.decision, loaded.model.classifier)
    context.model, context.version = loaded.model.name, loaded.model.version
    with (
        Revalidation(context, service, SCOPE),
        service.evaluations.admit(1),
        service.spool.folder() as folder,
    ):
        file = folder / "upload"
        await spooled(request.receive, context, file, service, deadline)
        reference = f"{loaded.model.name}@{loaded.model.version}"
        job = EvaluationJob(service.settings.models_dir, reference, file, folder, reading, options)
        report = await evaluated(job, deadline, client_gone(request.receive))
    answer = _answer(report, context, service)
    await service.quotas.count_documents(caller, context.documents)
    return answer


def _answer(report: bytes, context: RequestContext, service: Service) -> Response:
    found = _Figures.model_validate_json(report)
    context.documents = found.data.documents
    service.telemetry.documents.labels(context.model, PATH).inc(context.documents)
    for stage, seconds in found.seconds.items():
        service.telemetry.stages.labels(stage).observe(seconds)
    headers = {"x-model-version": context.version, "x-documents": str(context.documents)}
    return Response(report, headers=headers, media_type="application/json")


class _Counted(BaseModel):
    documents: int


class _Figures(BaseModel):
    """The part of a report that telemetry wants."""

    data: _Counted
    seconds: dict[str, float]
