"""The door: every request passes here first and last. Ids, telemetry, log, the last resort."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import problem
from app.api.http.request_context import Headers, RequestContext, RequestHead, head_lines
from app.api.http.request_log import RequestLog
from app.errors import AppError, DrainingError
from app.serving.logs import place
from app.serving.service import Service

UNROUTED = "unrouted"
CLIENT_LEFT = 499

AtOnce: TypeAlias = Callable[[RequestContext, bytes], tuple[bytes, bytes] | None]
"""(context, body) → the head's lines and the body of an answer; None, or an error: not at once."""

HEAD_NAMES, TRACEPARENT = (b"x-request-id", b"x-content-type-options"), b"traceparent"
HEAD, TRACED = head_lines(HEAD_NAMES), head_lines([TRACEPARENT])

log = logging.getLogger("labelserve.door")


class ClientLeftError(Exception):
    """The client closed its connection before its request had ended: nobody to answer."""


class RequestMiddleware:
    """Middleware around the whole application; `quick` routes are answered without the framework.

    What such a route raises becomes an answer here, as the framework's handlers do it elsewhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        *,
        notes: RequestLog,
        quick: Mapping[tuple[str, str], ASGIApp],
        at_once: AtOnce,
    ) -> None:
        self._app, self._service, self._notes, self._quick = app, service, notes, quick
        self._at_once = at_once
        self._root = service.settings.root_path
        self._telemetry = service.telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        context = scope["context"] = RequestContext(
            RequestHead(scope["method"], scope["headers"], address)
        )
        if self._root:
            _set_root(scope, self._root)

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                message["headers"] = self._headers(message["headers"], context)
            else:
                context.bytes_out += len(message.get("body", b""))
                context.is_answered = not message.get("more_body", False)
            await send(message)

        app = self._quick.get((scope["method"], scope["path"].removeprefix(self._root)), self._app)
        self._telemetry.requests_now += 1
        try:
            await app(scope, receive, answering)
        except ClientLeftError:
            context.status = CLIENT_LEFT
        except AppError as error:
            await self._problem(error, context, answering)
        except asyncio.CancelledError:
            if not self._service.is_draining:
                raise
            await self._problem(DrainingError("the service is shutting down"), context, answering)
        except Exception as error:
            await self._last_resort(error, context, answering)
        finally:
            self._telemetry.requests_now -= 1
            context.route = context.route or getattr(scope.get("route"), "path", UNROUTED)
            self._notes.add(context)

    def at_once(self, head: RequestHead, body: bytes) -> bytes | None:
        """The answer to a small request but for its first line; None: it goes the ordinary way.

        There every error is met again, and answered; here it only means that nothing was done.
        """
        if self._service.is_draining:
            return None
        context = RequestContext(head)
        try:
            found = self._at_once(context, body)
        except Exception:
            return None
        if found is None:
            return None
        lines, content = found
        context.status, context.bytes_out = 200, len(content)
        self._notes.add(context)
        own = HEAD % _head_values(context)
        traced = b"" if head.traceparent is None else TRACED % head.traceparent
        return b"".join((lines, own, traced, b"\r\n", content))

    def _headers(self, headers: Headers, context: RequestContext) -> Headers:
        found = [*headers, *zip(HEAD_NAMES, _head_values(context), strict=True)]
        if context.head.traceparent is not None:
            found.append((TRACEPARENT, context.head.traceparent))
        if self._service.is_draining:
            found.append((b"connection", b"close"))
        return found

    async def _last_resort(self, error: Exception, context: RequestContext, send: Send) -> None:
        log.error("request %s: %s", context.request_id, place(error))
        if not context.is_answered:
            await self._problem(error, context, send)

    async def _problem(self, error: Exception, context: RequestContext, send: Send) -> None:
        if context.status:
            raise ConnectionError("the answer had begun; the connection is closed") from None
        status, headers, body = problem(error, context.request_id)
        headers = [*headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _head_values(context: RequestContext) -> tuple[bytes, bytes]:
    return context.request_id.encode(), b"nosniff"


def _set_root(scope: Scope, root: str) -> None:
    """Make links right and routes found, whether or not the gateway has cut its own path off."""
    scope["root_path"] = root
    if not f"{scope['path']}/".startswith(f"{root}/"):
        scope["path"] = root + scope["path"]
