"""Puts routes, errors and the service together into one FastAPI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version
from typing import BinaryIO

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.errors import problem, protocol_error
from app.api.http.access_log import AccessLog
from app.api.http.middleware import RequestMiddleware
from app.api.http.request_context import context_of
from app.api.http.request_log import RequestLog
from app.api.openapi import document
from app.api.predictor import Predictor
from app.api.routes import docs, evaluate, health, metrics, models, predict, v2
from app.errors import AppError
from app.serving.service import Service

TITLE = "labelserve"


class Application(FastAPI):
    """FastAPI behind the door: what passes it first and last, and answers the quick routes."""

    door: RequestMiddleware
    quick_paths: frozenset[bytes]
    """Of requests that `door.at_once` may answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.door(scope, receive, send)

    async def framework(self, scope: Scope, receive: Receive, send: Send) -> None:
        """All that is not answered at the door."""
        await super().__call__(scope, receive, send)


def create_app(service: Service, *, log_stream: BinaryIO | None = None) -> Application:
    """The application; everything it needs comes in as an argument."""
    settings = service.settings
    log = AccessLog(log_stream) if settings.log_level in ("debug", "info") else None
    notes = RequestLog(service.telemetry, log)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()
            notes.settle()

    app = Application(
        title=TITLE,
        version=version(TITLE),
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.docs else None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.infer = Predictor(service, v2.ROUTE)
    for error in (AppError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _answer)
    route = predict.add_to(app, service)
    quick = {("POST", predict.PATH): route}
    app.quick_paths = frozenset(
        path.encode() for path in (predict.PATH, settings.root_path + predict.PATH)
    )
    app.door = RequestMiddleware(
        app.framework, service, notes=notes, quick=quick, at_once=route.at_once
    )
    for module in (health, models, evaluate, metrics, v2):
        app.include_router(module.router)
    if settings.docs:
        app.include_router(docs.router)
    app.openapi = cache(partial(document, app))  # type: ignore[method-assign]
    return app


async def _answer(request: Request, error: Exception) -> Response:
    status, headers, body = problem(error, context_of(request.scope).request_id)
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if f"{path}/".startswith("/v2/"):
        headers, body = protocol_error(headers, body)
    answer = Response(body, status)
    answer.raw_headers[:] = [*headers, (b"content-length", b"%d" % len(body))]
    return answer
