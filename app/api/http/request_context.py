"""RequestContext: what is known of a request while it is answered, for headers, telemetry, log."""

import re
import secrets
from collections.abc import Iterable
from itertools import count
from time import perf_counter
from typing import Any, TypeAlias

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
TRACEPARENT = re.compile(rb"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

Headers: TypeAlias = list[tuple[bytes, bytes]]

_prefix, _numbers = secrets.token_hex(6), count(1)


class RequestHead:
    """What the head of a request says: the same for all requests that have the same head."""

    __slots__ = ("address", "headers", "media_type", "method", "request_id", "traceparent")

    def __init__(self, method: str, headers: Iterable[tuple[bytes, bytes]], address: str) -> None:
        self.method, self.address = method, address
        self.headers: dict[bytes, bytes] = dict(headers)
        sent = self._valid(b"x-request-id", REQUEST_ID)
        self.request_id = None if sent is None else sent.decode()
        self.traceparent = self._valid(b"traceparent", TRACEPARENT)
        self.media_type = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()

    def _valid(self, name: bytes, form: re.Pattern[bytes]) -> bytes | None:
        sent = self.headers.get(name)
        return sent if sent is not None and form.fullmatch(sent) else None


class RequestContext:
    """One request, from its head to the end of its answer."""

    route = caller = model = version = ""
    status = bytes_out = documents = 0
    seconds = 0.0
    is_answered = False

    def __init__(self, head: RequestHead) -> None:
        self.start = perf_counter()
        self.head = head
        self.request_id = head.request_id or f"{_prefix}-{next(_numbers):x}"

    def header(self, name: bytes) -> bytes:
        """The value of a header; empty where it was not sent."""
        return self.head.headers.get(name, b"")


def head_lines(names: Iterable[bytes]) -> bytes:
    """The lines of a head with room for each value, to be filled in by `%`."""
    return b"".join(b"%b: %%b\r\n" % name for name in names)


def context_of(scope: Any) -> RequestContext:
    """The context that the door noted down in an ASGI scope."""
    context: RequestContext = scope["context"]
    return context
