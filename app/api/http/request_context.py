"""RequestContext: what is known of a request while it is answered, for headers, telemetry, log."""

import re
import secrets
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import count
from time import perf_counter
from typing import Any, TypeAlias

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
TRACEPARENT = re.compile(rb"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

_prefix, _numbers = secrets.token_hex(6), count(1)


class RequestHead:
    """The method and the headers of a request, by lower-case name, and who sent them."""

    __slots__ = ("_sent", "address", "headers", "media_type", "method", "request_id", "traceparent")

    def __init__(self, method: str, headers: Headers, address: str) -> None:
        self.method, self.address, self._sent = method, address, headers
        self.headers: dict[bytes, bytes] = dict(headers)
        request_id = self._valid(b"x-request-id", REQUEST_ID)
        self.request_id = None if request_id is None else request_id.decode()
        self.traceparent = self._valid(b"traceparent", TRACEPARENT)
        self.media_type = _media_type(self.headers.get(b"content-type", b""))

    def repeated(self, names: Set[bytes]) -> bytes | None:
        """One of these headers that was sent more than once."""
        if len(self.headers) == len(self._sent):
            return None
        seen = set()
        for name, _ in self._sent:
            if name in seen and name in names:
                return name
            seen.add(name)
        return None

    def _valid(self, name: bytes, form: re.Pattern[bytes]) -> bytes | None:
        value = self.headers.get(name)
        return value if value is not None and form.fullmatch(value) else None


@lru_cache(maxsize=256)
def _media_type(content_type: bytes) -> bytes:
    """The type without its parameters; clients send the same few again and again.

    >>> _media_type(b"Text/CSV; charset=utf-8")
    b'text/csv'
    """
    return content_type.partition(b";")[0].strip().lower()


class RequestContext:
    """One request, from its head to the end of its answer."""

    route = caller = model = version = ""
    refused_by_key = ""
    """Why its own key refused it: `expired`, `revoked`, or the limit that was reached."""
    status = bytes_out = documents = 0
    seconds = 0.0
    is_answered = False
    side: tuple[str, str] | None = None
    """The version that runs as a canary, and which side answers: `canary` or `current`."""

    def __init__(self, head: RequestHead) -> None:
        self.start = perf_counter()
        self.head = head
        self.request_id = head.request_id or f"{_prefix}-{next(_numbers):x}"

    def header(self, name: bytes) -> bytes:
        """The value of a header; empty where it was not sent."""
        return self.head.headers.get(name, b"")


def context_of(scope: Any) -> RequestContext:
    """The context that `RequestMiddleware` put into an ASGI scope."""
    context: RequestContext = scope["labelserve"]
    return context
