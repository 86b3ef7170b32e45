"""The door: every request passes here first and last. Ids, telemetry, log, the last resort."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.access_log import AccessLog
from app.api.errors import problem
from app.api.visit import Headers, Visit
from app.errors import AppError, DrainingError
from app.serving.logs import place
from app.serving.service import Service
from app.serving.tally import Tally

UNROUTED = "unrouted"
CLIENT_LEFT = 499

AtOnce: TypeAlias = Callable[[Visit, bytes], tuple[Headers, bytes] | None]
"""(visit, body) → the headers and body of an answer; None, or an error: it takes longer."""

log = logging.getLogger("labelserve.door")


class ClientLeftError(Exception):
    """The client closed its connection before its request had ended: nobody to answer."""


class Door:
    """Middleware around the whole application; `quick` routes are answered without the framework.

    What such a route raises becomes an answer here, as the framework's handlers do it elsewhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        *,
        access_log: AccessLog | None,
        quick: Mapping[tuple[str, str], ASGIApp],
        at_once: AtOnce,
    ) -> None:
        self._app, self._service, self._log, self._quick = app, service, access_log, quick
        self._at_once = at_once
        self._root = service.settings.root_path
        self._telemetry = service.telemetry
        self._durations: dict[tuple[str, str, int], Tally] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        visit = scope["visit"] = Visit(scope["method"], scope["headers"], address)
        if self._root:
            _set_root(scope, self._root)

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                visit.status = message["status"]
                message["headers"] = self._headers(message["headers"], visit)
            else:
                visit.bytes_out += len(message.get("body", b""))
                visit.is_answered = not message.get("more_body", False)
            await send(message)

        app = self._quick.get((visit.method, scope["path"].removeprefix(self._root)), self._app)
        self._telemetry.requests_now += 1
        try:
            await app(scope, receive, answering)
        except ClientLeftError:
            visit.status = CLIENT_LEFT
        except AppError as error:
            await self._problem(error, visit, answering)
        except asyncio.CancelledError:
            if not self._service.is_draining:
                raise
            await self._problem(DrainingError("the service is shutting down"), visit, answering)
        except Exception as error:
            await self._last_resort(error, visit, answering)
        finally:
            self._telemetry.requests_now -= 1
            visit.route = visit.route or getattr(scope.get("route"), "path", UNROUTED)
            self._note(visit)

    def at_once(self, method: str, headers: Headers, body: bytes, address: str) -> bytes | None:
        """Head and body of the answer to a small request; None: it is to go the ordinary way.

        There every error is met again, and answered; here it only means that nothing was done.
        """
        if self._service.is_draining:
            return None
        visit = Visit(method, headers, address)
        try:
            found = self._at_once(visit, body)
        except Exception:
            return None
        if found is None:
            return None
        visit.status, visit.bytes_out = 200, len(found[1])
        self._note(visit)
        head = [b"%b: %b\r\n" % header for header in self._headers(found[0], visit)]
        return b"".join([*head, b"\r\n", found[1]])

    def _headers(self, headers: Headers, visit: Visit) -> Headers:
        found = [
            *headers,
            (b"x-request-id", visit.request_id.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        if visit.traceparent is not None:
            found.append((b"traceparent", visit.traceparent))
        if self._service.is_draining:
            found.append((b"connection", b"close"))
        return found

    async def _last_resort(self, error: Exception, visit: Visit, send: Send) -> None:
        log.error("request %s: %s", visit.request_id, place(error))
        if not visit.is_answered:
            await self._problem(error, visit, send)

    async def _problem(self, error: Exception, visit: Visit, send: Send) -> None:
        if visit.status:
            raise ConnectionError("the answer had begun; the connection is closed") from None
        status, headers, body = problem(error, visit.request_id)
        headers = [*headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _note(self, visit: Visit) -> None:
        key = (visit.method, visit.route, visit.status)
        duration = self._durations.get(key)
        if duration is None:
            method = visit.method if visit.method in METHODS else "OTHER"
            durations = self._telemetry.durations
            duration = self._telemetry.tally(durations, method, visit.route, visit.status)
            self._durations[(method, visit.route, visit.status)] = duration
        duration.observe(perf_counter() - visit.start)
        if visit.status in REJECTED and "/health/" not in visit.route:
            self._telemetry.rejected.labels(REJECTED[visit.status]).inc()
        if self._log is not None:
            self._log.write(visit)


def _set_root(scope: Scope, root: str) -> None:
    """Make links right and routes found, whether or not the gateway has cut its own path off."""
    scope["root_path"] = root
    if not f"{scope['path']}/".startswith(f"{root}/"):
        scope["path"] = root + scope["path"]


REJECTED = {
    401: "unauthorized",
    403: "forbidden",
    413: "payload-too-large",
    429: "too-many-requests",
    503: "unavailable",
    504: "timeout",
    507: "storage-full",
}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
