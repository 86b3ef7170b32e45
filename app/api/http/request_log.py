"""RequestLog: what is kept of requests that have ended: telemetry and a line in the access log."""

import asyncio
from time import perf_counter

from app.api.http.access_log import AccessLog
from app.api.http.request_context import RequestContext
from app.serving.telemetry.counters import Counter, Histogram
from app.serving.telemetry.telemetry import Telemetry

FLUSH_SECONDS, BATCH = 0.1, 64
MOST_KEYS = 1000
QUOTA, QUOTA_STATUS = "quota", 429
REJECTED = {
    401: "unauthorized",
    403: "forbidden",
    413: "payload-too-large",
    429: "too-many-requests",
    503: "unavailable",
    504: "timeout",
    507: "storage-full",
}
OUTCOMES = {2: "answered", 4: "refused", 5: "failed"}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestLog:
    """Collects requests that ended, and counts and logs them in batches: that is twice as fast."""

    def __init__(
        self, telemetry: Telemetry, access_log: AccessLog | None, *, has_keys: bool = False
    ) -> None:
        self._telemetry, self._access_log, self._has_keys = telemetry, access_log, has_keys
        self._ended: list[RequestContext] = []
        self._is_due = False
        self._durations: dict[tuple[str, str, int], Histogram] = {}
        self._keys: dict[tuple[str, str], tuple[Counter, Counter]] = {}
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
                self._telemetry.rejected.labels(_reason(context)).inc()
            if self._has_keys and context.caller:
                requests, documents = self._of_key(context.caller, context.refused_by_key)
                requests.inc()
                documents.inc(context.documents)
            if context.side is not None:
                self._count_side(context, *context.side)
        if self._access_log is not None and ended:
            self._access_log.write(ended)

    def _flush_when_due(self) -> None:
        self._is_due = False
        self.flush()

    def _count_side(self, context: RequestContext, version: str, side: str) -> None:
        """Count a request that either side of a canary may have answered."""
        key = (context.model, version, side)
        outcome = OUTCOMES[context.status // 100] if context.status else "failed"
        self._telemetry.canary_requests.labels(*key, outcome).inc()
        self._telemetry.canary_seconds.labels(*key).observe(context.seconds)

    def _of_key(self, caller: str, refused: str) -> tuple[Counter, Counter]:
        """The counters of a key; keys beyond the first thousand share theirs."""
        found = self._keys.get((caller, refused))
        if found is None:
            telemetry = self._telemetry
            key = caller if len(self._keys) < MOST_KEYS else "others"
            found = (
                telemetry.key_requests.labels(key, refused or "accepted"),
                telemetry.key_documents.labels(key),
            )
            if len(self._keys) < MOST_KEYS:
                self._keys[caller, refused] = found
        return found

    def _duration(self, context: RequestContext) -> Histogram:
        method = context.head.method if context.head.method in METHODS else "OTHER"
        key = (method, context.route, context.status)
        histogram = self._durations.get(key)
        if histogram is None:
            histogram = self._telemetry.durations.labels(*key)
            self._durations[key] = histogram
        return histogram


def _reason(context: RequestContext) -> str:
    """Why a request was turned away; what its own key's limits refuse is nobody else's trouble."""
    is_quota = context.status == QUOTA_STATUS and context.refused_by_key
    return QUOTA if is_quota else REJECTED[context.status]
