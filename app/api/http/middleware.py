"""RequestMiddleware: what every request passes first and last: id, telemetry, log, last resort."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import send_problem
from app.api.http.bodies import ClientLeftError
from app.api.http.request_context import Headers, RequestContext, RequestHead
from app.api.http.request_log import RequestLog
from app.errors import AppError, DrainingError, MalformedBodyError, OverloadedError
from app.serving.logs import place
from app.serving.service import Service

UNROUTED = "unrouted"
CLIENT_LEFT = 499
WORK = ("POST", "PUT")
NO_MEMORY = "there is not enough memory for this now; try again later"
SENT_ONCE = frozenset(
    (b"authorization", b"content-encoding", b"content-length", b"content-type", b"host")
)
"""Headers of which two would let two readers of one request understand it differently."""

AtOnce: TypeAlias = Callable[[RequestContext, bytes], tuple[Headers, bytes] | None]
"""(context, body) → headers and body of an answer; None, or an error: it takes the ordinary way."""

log = logging.getLogger("labelserve.requests")


class RequestMiddleware:
    """Middleware around the whole application, and what its fast path passes instead."""

    def __init__(
        self, app: ASGIApp, service: Service, *, request_log: RequestLog, at_once: AtOnce
    ) -> None:
        self._app, self._service, self._log, self._at_once = app, service, request_log, at_once
        settings = service.settings
        self._has_cors = bool(settings.cors_origins)
        self._root, self._telemetry = settings.root_path, service.telemetry
        identity = (settings.proxy_user_header, settings.proxy_groups_header)
        self._sent_once = SENT_ONCE | {name.lower().encode() for name in identity}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        context = RequestContext(RequestHead(scope["method"], scope["headers"], address))
        scope["labelserve"] = context
        if self._root:
            _set_root(scope, self._root)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                message["headers"] = self._headers(message["headers"], context)
            else:
                context.bytes_out += len(message.get("body", b""))
                context.is_answered = not message.get("more_body", False)
            await send(message)

        self._telemetry.requests_now += 1
        try:
            self._refuse_repeated(context.head)
            self._refuse_work(context.head)
            await self._app(scope, receive, answer)
        except ClientLeftError:
            context.status = CLIENT_LEFT
        except AppError as error:
            await self._problem(error, context, answer)
        except asyncio.CancelledError:
            if not self._service.is_draining:
                raise
            await self._problem(DrainingError("the service is shutting down"), context, answer)
        except Exception as error:
            await self._last_resort(error, context, answer)
        finally:
            self._telemetry.requests_now -= 1
            context.route = context.route or getattr(scope.get("route"), "path", UNROUTED)
            self._log.add(context)

    def at_once(self, headers: Headers, address: str, body: bytes) -> tuple[Headers, bytes] | None:
        """Headers and body of the answer to a small request; None: it takes the ordinary way.

        There every error is met again, and answered; here it only means that nothing was done.
        """
        head = RequestHead("POST", headers, address)
        if self._has_cors and b"origin" in head.headers:
            return None
        context = RequestContext(head)
        try:
            self._refuse_repeated(head)
            self._refuse_work(head)
            answer = None if self._service.is_draining else self._at_once(context, body)
        except Exception:
            return None
        if answer is None:
            return None
        own, content = answer
        context.status, context.bytes_out = 200, len(content)
        self._log.add(context)
        return self._headers(own, context), content

    def _refuse_repeated(self, head: RequestHead) -> None:
        name = head.repeated(self._sent_once)
        if name is not None:
            raise MalformedBodyError(f"the header {name.decode('latin-1')} was sent twice")

    def _refuse_work(self, head: RequestHead) -> None:
        """Refuse what makes work where memory is short; what only asks how it stands goes on."""
        if head.method in WORK:
            self._service.resources.check_memory()

    def _headers(self, headers: Headers, context: RequestContext) -> Headers:
        """The headers of an answer, and those that every answer has."""
        full = [
            *headers,
            (b"x-request-id", context.request_id.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        if context.head.traceparent is not None:
            full.append((b"traceparent", context.head.traceparent))
        if self._service.is_draining:
            full.append((b"connection", b"close"))
        return full

    async def _last_resort(self, error: Exception, context: RequestContext, send: Send) -> None:
        if isinstance(error, MemoryError) and not context.status:
            await self._problem(OverloadedError(NO_MEMORY), context, send)
            return
        log.error("request %s: %s", context.request_id, place(error))
        if not context.is_answered:
            await self._problem(error, context, send)

    async def _problem(self, error: Exception, context: RequestContext, send: Send) -> None:
        if context.status:
            raise ConnectionError("the answer had begun; the connection is closed") from None
        await send_problem(error, context.request_id, send)


def _set_root(scope: Scope, root: str) -> None:
    """Make links right and routes found, whether or not the gateway has cut its own path off."""
    scope["root_path"] = root
    if not f"{scope['path']}/".startswith(f"{root}/"):
        scope["path"] = root + scope["path"]
