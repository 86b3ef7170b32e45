"""Evaluations that a service is handed and works on by itself: submitted, awaited, looked up."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from labelserve.client.errors import FailedError, problem_error
from labelserve.client.exchange import Exchange, FileDigest, Pause, ServiceCall, answered
from labelserve.client.routes import (
    EVALUATE_SECONDS,
    Uploaded,
    evaluate_query,
    identified,
    query_of,
    upload_of,
)
from labelserve.documents import LabelSets
from labelserve.report import EvaluationReport

PATH = "/evaluations"
FORMATS = {
    "text/csv": "csv",
    "application/x-ndjson": "jsonl",
    "text/x-svmlight": "svmlight",
    "text/tab-separated-values": "tsv",
}
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds between two looks at an evaluation."""
ENDED = ("done", "failed", "cancelled")

EvaluationState = Literal["queued", "running", "done", "failed", "cancelled"]


class EvaluationFilter(TypedDict, total=False):
    """Which evaluations are listed: those that have everything that is named."""

    model: str
    data: str
    batch: str
    state: EvaluationState


@dataclass(frozen=True, slots=True)
class ServedEvaluation:
    """An evaluation of a service; `info` is all that GET /evaluations/{id} says about it."""

    id: str
    state: EvaluationState
    model: str
    version: str
    info: Mapping[str, Any] = field(repr=False)

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The main figures of its report, such as `micro.f1`; {} until it is done."""
        return self.info["figures"] or {}


def submitted(
    data: Uploaded,
    labels: LabelSets | None,
    asked: Mapping[str, Any],
    retries: int,
) -> Exchange[list[ServedEvaluation]]:
    """One evaluation a model, waiting; what the service has already is not sent again."""
    own = {name: value for name, value in asked.items() if name in ("models", "keep")}
    counted = {name: value for name, value in asked.items() if name not in own}
    content, media_type = upload_of(data, labels)
    sha256 = yield from _uploaded(content, retries)
    query = {"format": FORMATS.get(media_type), **evaluate_query(counted), **own, "upload": sha256}
    if isinstance(content, Path):
        query["name"] = content.name[:200]
    call = ServiceCall("POST", PATH, query_of(query), is_cheap=False)
    reply = yield from answered(identified(call), retries, (202,))
    return [_evaluation(found) for found in json.loads(reply.content)["evaluations"]]


def awaited(evaluation: ServedEvaluation | str, retries: int) -> Exchange[ServedEvaluation]:
    """The evaluation once it is done; a ServiceError where it failed or was cancelled."""
    pause = FIRST_PAUSE
    while True:
        call = identified(ServiceCall("GET", f"{PATH}/{evaluation_id(evaluation)}"))
        reply = yield from answered(call, retries)
        found = _evaluation(json.loads(reply.content))
        if found.state == "failed":
            raise problem_error(found.info["error"])
        if found.state == "cancelled":
            raise FailedError("the evaluation was cancelled")
        if found.state == "done":
            return found
        yield Pause(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def reported(evaluation: ServedEvaluation | str, retries: int) -> Exchange[EvaluationReport]:
    """The report of an evaluation that is done, and its page."""
    path = f"{PATH}/{evaluation_id(evaluation)}/report"
    reply = yield from answered(identified(ServiceCall("GET", path)), retries)
    asked = ServiceCall("GET", path, accept="text/html")
    page = yield from answered(identified(asked), retries)
    return EvaluationReport(json.loads(reply.content), page.content.decode)


def listed(wanted: EvaluationFilter, limit: int, retries: int) -> Exchange[list[ServedEvaluation]]:
    """The newest evaluations that pass the filter, page by page."""
    found: list[ServedEvaluation] = []
    cursor: str | None = None
    while len(found) < limit:
        query = query_of({**wanted, "cursor": cursor})
        reply = yield from answered(identified(ServiceCall("GET", PATH, query)), retries)
        page = json.loads(reply.content)
        found += map(_evaluation, page["evaluations"])
        cursor = page["cursor"]
        if cursor is None:
            break
    return found[:limit]


def _uploaded(content: bytes | Path, retries: int) -> Exchange[str]:
    """The SHA-256 of what the service has now; it is sent only where it was not there."""
    if isinstance(content, Path):
        digest = yield FileDigest(content)
        sha256 = str(digest)
    else:
        sha256 = hashlib.sha256(content).hexdigest()
    path = f"/uploads/{sha256}"
    asked = yield from answered(identified(ServiceCall("HEAD", path)), retries, (200, 404))
    if asked.status == 404:
        call = ServiceCall("PUT", path, content=content, seconds=EVALUATE_SECONDS)
        yield from answered(identified(call), retries, (200, 201))
    return sha256


def _evaluation(found: Mapping[str, Any]) -> ServedEvaluation:
    return ServedEvaluation(found["id"], found["state"], found["model"], found["version"], found)


def evaluation_id(evaluation: ServedEvaluation | str) -> str:
    """The id of an evaluation that is given by itself or by its id."""
    return evaluation if isinstance(evaluation, str) else evaluation.id
