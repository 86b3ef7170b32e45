"""/uploads: files sent once, to be evaluated by their SHA-256 any number of times."""

import asyncio
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from app.api.deps import Parts
from app.api.evaluations.query import FILE
from app.api.evaluations.schemas import StoredUpload
from app.api.evaluations.submission import SCOPE
from app.api.http.media_types import GUESSED
from app.api.http.request_context import context_of
from app.api.http.uploads import FileReceiver, spooled
from app.api.identity import caller_with
from app.api.openapi import problems
from app.api.revalidation import Revalidation
from app.errors import DrainingError, InvalidRequestError
from app.serving.admission import Deadline
from app.serving.identity import Identity

PREFIX = "/uploads/"
router = APIRouter(tags=["evaluations"])

Caller = Annotated[Identity, caller_with(SCOPE)]
Sha256 = Annotated[
    str, Path(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the bytes as they are sent.")
]
HEAD_STATUSES = (200, 401, 403, 404, 422)
"""Without bodies, which answers to HEAD never have."""
BODY = {"required": True, "content": {GUESSED.decode(): {"schema": FILE}}}


@router.head(
    PREFIX + "{sha256}",
    response_class=Response,
    responses={status: {"description": HTTPStatus(status).phrase} for status in HEAD_STATUSES},
)
async def find_upload(sha256: Sha256, service: Parts, _: Caller) -> Response:
    """Whether a file is there; if so, it need not be sent."""
    await asyncio.to_thread(service.archive.uploads.touch, sha256)
    return Response()


@router.put(
    PREFIX + "{sha256}",
    status_code=201,
    response_model=StoredUpload,
    openapi_extra={"requestBody": BODY},
    responses={
        200: {"model": StoredUpload, "description": "It was there."},
        **problems(400, 401, 403, 413, 422, 429, 503, 504, 507),
    },
)
async def put_upload(sha256: Sha256, request: Request, service: Parts, _: Caller) -> Response:
    """Store a file under the SHA-256 of its bytes; compressed ones as they are.

    It stays as long as an evaluation refers to it, and for an hour where none does.
    """
    context, deadline = context_of(request.scope), Deadline.after(service.settings.evaluate_seconds)
    if service.is_draining:
        raise DrainingError("the service is shutting down; ask another replica")
    with (
        Revalidation(context, service, SCOPE),
        service.uploads.admit(1),
        service.spool.folder() as folder,
    ):
        limit = service.settings.max_upload_bytes
        receiver = FileReceiver(folder, limit, is_hashed=True, is_form=False)
        (file,) = await spooled(request.receive, context, receiver, service, deadline)
        if file.sha256 != sha256:
            raise InvalidRequestError("the SHA-256 of the body is not the one that the path names")
        stored = StoredUpload(upload=sha256, bytes=file.path.stat().st_size)
        is_new = await asyncio.to_thread(service.archive.uploads.put, file.path, sha256)
    status = 201 if is_new else 200
    return Response(stored.model_dump_json(), status, media_type="application/json")
