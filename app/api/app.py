"""Puts routes, errors and the service together into one FastAPI application."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from http import HTTPStatus
from importlib.metadata import version
from threading import Lock
from typing import Any, BinaryIO

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.errors import problem, protocol_error
from app.api.http.access_log import AccessLog
from app.api.http.middleware import RequestMiddleware
from app.api.http.request_context import Headers, context_of
from app.api.http.request_log import RequestLog
from app.api.openapi import document, operation_id
from app.api.predictor import Predictor
from app.api.routes import (
    comparisons,
    docs,
    evaluate,
    evaluations,
    health,
    leaderboards,
    live,
    metrics,
    models,
    page,
    predict,
    uploads,
    v2,
)
from app.errors import AppError
from app.serving.service import Service

TITLE = "labelserve"
EXPOSED = ("X-Request-ID", "X-Model-Version", "X-Documents", "Retry-After")
"""Headers of answers that pages of other origins may read."""
SCHEMAS_LOCK = Lock()
"""pydantic's schemas cannot be made by two threads at once, nor for two applications."""


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
        elif (
            scope["type"] == "http" and scope["method"] == "HEAD" and not self._has_own_head(scope)
        ):
            await self._head(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    def _has_own_head(self, scope: Scope) -> bool:
        return self._path(scope).startswith(uploads.PREFIX)

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
        if settings.docs:  # made once, in a thread: that takes longer than a request may
            asyncio.get_running_loop().run_in_executor(None, app.openapi)
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
    routes = (health, models, live, evaluate, evaluations, comparisons, leaderboards, uploads)
    for module in (*routes, metrics, v2):
        app.include_router(module.router)
    if settings.docs:
        app.include_router(page.router)
        app.include_router(docs.router)
    app.openapi = _made_once(partial(document, app))  # type: ignore[method-assign]
    return app


def _made_once(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """The same result for every caller; who asks while it is in the making waits."""
    made = cache(make)

    def result() -> dict[str, Any]:
        with SCHEMAS_LOCK:
            return made()

    return result


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


def _allowed(app: FastAPI, path: str) -> str:
    """The methods of a path, which may be those of several routes: the framework names one's."""
    contexts = iter_route_contexts(app.router.routes)
    found = [one.methods or () for one in contexts if compile_path(one.path or "")[0].match(path)]
    return ", ".join(sorted(set().union(*found)))


async def _answer(request: Request, error: Exception) -> Response:
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error.headers = {"Allow": _allowed(request.app, path)}
    status, headers, body = problem(error, context_of(request.scope).request_id)
    if f"{path}/".startswith("/v2/"):
        headers, body = protocol_error(headers, body)
    answer = Response(body, status)
    answer.raw_headers[:] = [*headers, (b"content-length", b"%d" % len(body))]
    return answer
