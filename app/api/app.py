"""Puts routes, errors and the service together into one FastAPI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version
from typing import BinaryIO

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.errors import problem, protocol_error
from app.api.http.access_log import AccessLog
from app.api.http.middleware import RequestMiddleware
from app.api.http.request_context import Headers, context_of
from app.api.http.request_log import RequestLog
from app.api.openapi import document, operation_id
from app.api.predictor import Predictor
from app.api.routes import docs, evaluate, health, metrics, models, predict, v2
from app.errors import AppError
from app.serving.service import Service

TITLE = "labelserve"
EXPOSED = ("X-Request-ID", "X-Model-Version", "X-Documents", "Retry-After")
"""Headers of answers that pages of other origins may read."""


class Application(FastAPI):
    """FastAPI inside `RequestMiddleware` (and CORS, where it is set).

    `POST /predict` does not need the framework, and by the fast path not even a task. Both short
    cuts are taken only while nobody has added middleware: what was added sees every request.
    """

    request_middleware: RequestMiddleware
    thin_route: predict.Predict
    fast_paths: frozenset[bytes]
    """Paths of requests that `at_once` may answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.request_middleware(scope, receive, send)

    async def routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the thin route answer its requests, and the framework all others."""
        is_thin = scope["type"] == "http" and scope["method"] == "POST"
        if is_thin and self._path(scope) == predict.PATH and not self.user_middleware:
            await self.thin_route(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "HEAD":
            await self._head(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer HEAD as GET: the server sends no body where its own scope says HEAD."""
        asked = {**scope, "method": "GET"}
        try:
            await super().__call__(asked, receive, send)
        finally:
            scope["route"], context_of(scope).bytes_out = asked.get("route"), 0

    def at_once(self, headers: Headers, address: str, body: bytes) -> tuple[Headers, bytes] | None:
        """The fast path's answer to a `POST /predict`; None: ask the application."""
        if self.user_middleware:
            return None
        return self.request_middleware.at_once(headers, address, body)

    def _path(self, scope: Scope) -> str:
        path: str = scope["path"]
        return path.removeprefix(scope.get("root_path", ""))


def create_app(service: Service, *, log_stream: BinaryIO | None = None) -> Application:
    """The application; everything it needs comes in as an argument."""
    settings = service.settings
    access_log = AccessLog(log_stream) if settings.log_level in ("debug", "info") else None
    request_log = RequestLog(service.telemetry, access_log, has_keys=service.keys is not None)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()
            request_log.flush()

    app = Application(
        title=TITLE,
        version=version(TITLE),
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.docs else None,
        redirect_slashes=False,  # it would send clients to whatever host their request names
        generate_unique_id_function=operation_id,
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.infer = Predictor(service, v2.ROUTE)
    for error in (AppError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _answer)
    _wrap(app, service, request_log)
    for module in (health, models, evaluate, metrics, v2):
        app.include_router(module.router)
    if settings.docs:
        app.include_router(docs.router)
    app.openapi = cache(partial(document, app))  # type: ignore[method-assign]
    return app


def _wrap(app: Application, service: Service, request_log: RequestLog) -> None:
    """Add the thin route, and what stands around the framework."""
    settings = service.settings
    route = app.thin_route = predict.add_to(app, service)
    paths = (predict.PATH, settings.root_path + predict.PATH)
    app.fast_paths = frozenset(path.encode() for path in paths)
    app.request_middleware = RequestMiddleware(
        _with_cors(app.routed, settings.cors_origins),
        service,
        request_log=request_log,
        at_once=route.at_once,
    )


def _with_cors(app: ASGIApp, origins: tuple[str, ...]) -> ASGIApp:
    """The application as browsers want it for pages of these origins; as it is for none."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=("*",),
        expose_headers=EXPOSED,
    )


async def _answer(request: Request, error: Exception) -> Response:
    status, headers, body = problem(error, context_of(request.scope).request_id)
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if f"{path}/".startswith("/v2/"):
        headers, body = protocol_error(headers, body)
    answer = Response(body, status)
    answer.raw_headers[:] = [*headers, (b"content-length", b"%d" % len(body))]
    return answer
