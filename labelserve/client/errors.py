"""What a service answers when it does not answer what was asked for (RFC 9457), by type.

ServiceError
├── BadRequestError    the request or its data cannot be answered as they are
├── AccessError        no valid key, or one that does not reach this far
├── UnknownModelError  no such model or version
├── UnknownEvaluationError  no such evaluation
├── BusyError          not now: too much work, a limit that is used up, a model that is not loaded
├── FailedError        the service failed, or took too long
└── UnansweredError    no answer came
"""

import json
from collections.abc import Mapping
from typing import Any

URN = "urn:labelserve:error:"


class ServiceError(Exception):
    """Base class. `slug` and `status` are stable; `line` is there where one of many is meant.

    `line` counts from 1, over all texts or the file that were sent. `best` has the nearest figures
    where an operating point is unattainable.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        slug: str = "",
        line: int | None = None,
        request_id: str = "",
        best: Mapping[str, float] | None = None,
    ) -> None:
        self.detail, self.status, self.slug, self.line = detail, status, slug, line
        self.request_id, self.best = request_id, dict(best or {})
        super().__init__(detail)

    def __str__(self) -> str:
        """The sentence, where it applies, and what to look for in the service's log."""
        place = f"line {self.line}: " if self.line is not None else ""
        facts = [f"{self.status} {self.slug}".strip(" 0"), f"request {self.request_id}"]
        return f"{place}{self.detail} ({', '.join(filter(None, facts))})"


class BadRequestError(ServiceError):
    """The request or its data cannot be answered as they are."""


class AccessError(ServiceError):
    """No valid key, or one that does not reach this far."""


class UnknownModelError(ServiceError):
    """No such model or version is loaded."""


class UnknownEvaluationError(ServiceError):
    """No such evaluation or upload, or none that the key may see."""


class BusyError(ServiceError):
    """Not now; it was tried several times, unless the service asks to wait for long."""


class FailedError(ServiceError):
    """The service failed, or took longer than it allows."""


class UnansweredError(ServiceError):
    """No answer came: no connection, one that broke, or a timeout."""


SLUGS: dict[str, type[ServiceError]] = {
    "invalid-request": BadRequestError,
    "unattainable": BadRequestError,
    "bad-record": BadRequestError,
    "malformed-body": BadRequestError,
    "conflict": BadRequestError,
    "payload-too-large": BadRequestError,
    "unsupported-media-type": BadRequestError,
    "unauthorized": AccessError,
    "forbidden": AccessError,
    "unknown-model": UnknownModelError,
    "unknown-evaluation": UnknownEvaluationError,
    "unknown-upload": UnknownEvaluationError,
    "too-many-requests": BusyError,
    "model-unavailable": BusyError,
    "draining": BusyError,
    "overloaded": BusyError,
    "jobs-unavailable": BusyError,
    "storage-full": FailedError,
    "timeout": FailedError,
    "internal": FailedError,
}
STATUSES = {401: AccessError, 403: AccessError, 429: BusyError, 503: BusyError}
"""For answers that are not the service's own but a gateway's."""


def error_of(status: int, content: bytes, request_id: str) -> ServiceError:
    """The error that an answer tells of; a gateway's page is told by its status alone."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    return problem_error({"status": status, "request_id": request_id, **problem})


def problem_error(problem: Mapping[str, Any], *, line: int | None = None) -> ServiceError:
    """The error of a problem as RFC 9457 has it."""
    status, slug = int(problem["status"]), str(problem.get("type", "")).removeprefix(URN)
    by_status = STATUSES.get(status, FailedError if status >= 500 else BadRequestError)
    return SLUGS.get(slug, by_status)(
        str(problem.get("detail") or f"the answer has status {status}, and no reason"),
        status=status,
        slug=slug if slug in SLUGS else "",
        line=problem.get("line") if line is None else line,
        request_id=str(problem.get("request_id", "")),
        best=problem.get("best"),
    )
