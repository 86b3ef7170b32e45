"""What is kept of requests that have ended: figures for telemetry and a line in the log."""

import asyncio
from time import perf_counter

from app.api.http.access_log import AccessLog
from app.api.http.request_context import RequestContext
from app.serving.telemetry.batched_metrics import BatchedHistogram
from app.serving.telemetry.telemetry import Telemetry

NOTE_SECONDS, MOST_TOGETHER = 0.1, 64
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
    """Collects a few visits, or those of a moment, and notes them together: in half the time."""

    def __init__(self, telemetry: Telemetry, access_log: AccessLog | None) -> None:
        self._telemetry, self._log = telemetry, access_log
        self._ended: list[RequestContext] = []
        self._is_due = False
        self._durations: dict[tuple[str, str, int], BatchedHistogram] = {}
        telemetry.sources.append(self.settle)

    def add(self, context: RequestContext) -> None:
        """The context has ended."""
        context.seconds = perf_counter() - context.start
        self._ended.append(context)
        if len(self._ended) >= MOST_TOGETHER:
            self.settle()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(NOTE_SECONDS, self._settle_in_time)

    def settle(self) -> None:
        """Count and log all that has ended."""
        ended, self._ended = self._ended, []
        for context in ended:
            self._duration(context).observe(context.seconds)
            if context.status in REJECTED and "/health/" not in context.route:
                self._telemetry.rejected.labels(REJECTED[context.status]).inc()
        if self._log is not None and ended:
            self._log.write(ended)

    def _settle_in_time(self) -> None:
        self._is_due = False
        self.settle()

    def _duration(self, context: RequestContext) -> BatchedHistogram:
        method = context.head.method if context.head.method in METHODS else "OTHER"
        key = (method, context.route, context.status)
        found = self._durations.get(key)
        if found is None:
            found = self._telemetry.tally(self._telemetry.durations, *key)
            self._durations[key] = found
        return found
