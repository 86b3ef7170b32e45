"""One JSON line a request: who, which route, what came of it. Never a text, a path or a query."""

import asyncio
import sys
from datetime import UTC, datetime
from time import perf_counter, time
from typing import BinaryIO

import msgspec

from app.api.visit import Visit

FLUSH_SECONDS = 0.1


class Line(msgspec.Struct, omit_defaults=True):
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
    """Collects lines for a moment and writes them together: one system call, not one a request."""

    def __init__(self, stream: BinaryIO | None = None) -> None:
        self._stream = stream or sys.stdout.buffer
        self._encoder = msgspec.json.Encoder()
        self._lines = bytearray()
        self._second, self._stamp = 0, ""

    def write(self, visit: Visit) -> None:
        """Add the visit's line; not to be ready yet is an answer, not an error."""
        trace_id = visit.traceparent.split(b"-")[1].decode() if visit.traceparent else ""
        line = Line(
            self._now(),
            visit.method,
            visit.route,
            visit.status,
            int((perf_counter() - visit.start) * 1e6) / 1e6,
            visit.request_id,
            "error" if visit.status >= 500 and not visit.route.endswith("/ready") else "info",
            visit.bytes_out,
            visit.caller,
            visit.model,
            visit.version,
            visit.documents,
            trace_id,
        )
        if not self._lines:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)
        self._lines += self._encoder.encode(line)
        self._lines += b"\n"

    def flush(self) -> None:
        """Write what was collected; a reader that is gone is no reason to stop serving."""
        lines, self._lines = self._lines, bytearray()
        try:
            self._stream.write(lines)
            self._stream.flush()
        except (OSError, ValueError):
            return

    def _now(self) -> str:
        now = int(time())
        if now != self._second:
            self._second = now
            self._stamp = datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
        return self._stamp
