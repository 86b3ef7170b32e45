"""EvaluationEvents: the states of an evaluation as server-sent events, until it has ended."""

import asyncio
from contextlib import AbstractContextManager, suppress
from time import monotonic

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.errors import problem_of
from app.api.evaluations.schemas import Evaluation
from app.api.http.bodies import ClientLeftError, client_gone
from app.api.http.request_context import RequestContext, context_of
from app.errors import AppError
from app.serving.identity import Identity
from app.serving.jobs.job import Job
from app.serving.service import Service

LOOK_SECONDS = 1.0
SILENT_SECONDS = 15.0
"""After so long without a change a comment is sent: gateways close what is silent for longer."""
MEDIA_TYPE = "text/event-stream"
HEADERS = {
    "content-type": MEDIA_TYPE,
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would keep events back until it has many
}


class EvaluationEvents(Response):
    """`progress` whenever something has changed, then `end`; each has the whole evaluation.

    It ends early when the service is shutting down: a browser connects again by itself.
    """

    def __init__(
        self,
        job: Job,
        caller: Identity,
        service: Service,
        revalidation: AbstractContextManager[object],
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._job, self._caller, self._service = job, caller, service
        self._revalidation = revalidation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events while the client reads them."""
        context = context_of(scope)
        with self._service.event_streams.admit(1), suppress(ClientLeftError):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if context.head.method == "HEAD":
                await send({"type": "http.response.body"})
                return
            gone = asyncio.ensure_future(client_gone(receive))
            try:
                await self._send_all(context, send, gone)
            finally:
                gone.cancel()
            await send({"type": "http.response.body"})

    async def _send_all(
        self, context: RequestContext, send: Send, gone: "asyncio.Future[None]"
    ) -> None:
        try:
            with self._revalidation:
                await self._follow(send, gone)
        except AppError as error:  # revoked, removed, or the database is away
            problem = msgspec.json.encode(problem_of(error, context.request_id))
            await _event(send, b"error", problem)

    async def _follow(self, send: Send, gone: "asyncio.Future[None]") -> None:
        job, last, sent_at = self._job, b"", 0.0
        while True:
            content = Evaluation.of(job).model_dump_json().encode()
            if job.is_ended:
                await _event(send, b"end", content)
                return
            if content != last:
                await _event(send, b"progress", content)
                last, sent_at = content, monotonic()
            elif monotonic() > sent_at + SILENT_SECONDS:
                await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
                sent_at = monotonic()
            await asyncio.wait([gone], timeout=LOOK_SECONDS)
            if gone.done():
                gone.result()
            if self._service.is_draining:
                return
            job = await asyncio.to_thread(self._service.archive.get, job.id, self._caller.may_use)


async def _event(send: Send, name: bytes, data: bytes) -> None:
    body = b"event: " + name + b"\ndata: " + data + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})
