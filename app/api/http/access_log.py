"""One JSON line a request: who, which route, what came of it. Never a text, a path or a query."""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec

from app.api.http.request_context import RequestContext


class LogLine(msgspec.Struct, omit_defaults=True):
    """The fields of one line; what is empty is left out."""

    time: str
    method: str
    route: str
    status: int
    seconds: float
    request_id: str
    level: str = ""
    bytes: int = 0
    caller: str = ""
    model: str = ""
    version: str = ""
    documents: int = 0
    trace_id: str = ""


class AccessLog:
    """Writes the lines of many requests in one system call."""

    def __init__(self, stream: BinaryIO | None = None) -> None:
        self._stream = stream or sys.stdout.buffer
        self._encoder = msgspec.json.Encoder()

    def write(self, contexts: Iterable[RequestContext]) -> None:
        """Write the requests' lines; a reader that is gone is no reason to stop serving."""
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        lines = self._encoder.encode_lines([_line(context, now) for context in contexts])
        try:
            self._stream.write(lines)
            self._stream.flush()
        except (OSError, ValueError):
            return


def _line(context: RequestContext, now: str) -> LogLine:
    """The context's line; not to be ready yet is an answer, not an error."""
    traceparent = context.head.traceparent
    return LogLine(
        now,
        context.head.method,
        context.route,
        context.status,
        int(context.seconds * 1e6) / 1e6,
        context.request_id,
        "error" if context.status >= 500 and not context.route.endswith("/ready") else "info",
        context.bytes_out,
        context.caller,
        context.model,
        context.version,
        context.documents,
        traceparent.split(b"-")[1].decode() if traceparent else "",
    )
