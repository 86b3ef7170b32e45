"""Visit: what is known of one request while it is answered, for headers, telemetry and the log."""

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


class Visit:
    """One request, from its head to the end of its answer."""

    __slots__ = (
        "address",
        "bytes_out",
        "caller",
        "documents",
        "headers",
        "is_answered",
        "method",
        "model",
        "request_id",
        "route",
        "seconds",
        "start",
        "status",
        "traceparent",
        "version",
    )

    def __init__(self, method: str, headers: Iterable[tuple[bytes, bytes]], address: str) -> None:
        self.start = perf_counter()
        self.headers: dict[bytes, bytes] = dict(headers)
        self.method, self.address = method, address
        self.request_id = self._request_id()
        self.traceparent = self._traceparent()
        self.route = ""
        self.is_answered = False
        self.seconds = 0.0
        self.status = self.bytes_out = self.documents = 0
        self.caller = self.model = self.version = ""

    def header(self, name: bytes) -> bytes:
        """The value of a header; empty where it was not sent."""
        return self.headers.get(name, b"")

    def _request_id(self) -> str:
        sent = self.headers.get(b"x-request-id")
        if sent is not None and REQUEST_ID.fullmatch(sent):
            return sent.decode()
        return f"{_prefix}-{next(_numbers):x}"

    def _traceparent(self) -> bytes | None:
        sent = self.headers.get(b"traceparent")
        return sent if sent is not None and TRACEPARENT.fullmatch(sent) else None


def head_lines(names: Iterable[bytes]) -> bytes:
    """The lines of a head with room for each value, to be filled in by `%`."""
    return b"".join(b"%b: %%b\r\n" % name for name in names)


def visit_of(scope: Any) -> Visit:
    """The visit that the door noted down in an ASGI scope."""
    visit: Visit = scope["visit"]
    return visit
