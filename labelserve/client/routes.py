"""The calls of a service and what their answers mean, one function a route."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from labelserve.arguments import FilePath, UploadArguments, asked_of_texts, counting
from labelserve.client.batches import TextBatch
from labelserve.client.errors import FailedError, problem_error
from labelserve.client.exchange import (
    Exchange,
    NoReply,
    Reply,
    ServiceCall,
    answered,
    new_request_id,
)
from labelserve.documents import DataTable, LabelledTexts, LabelSets, json_lines
from labelserve.predictions import TextPrediction
from labelserve.report import EvaluationReport

NDJSON = "application/x-ndjson"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".jsonl": NDJSON,
    ".ndjson": NDJSON,
    ".svm": "text/x-svmlight",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/tab-separated-values",
}
PACKED = (".gz", ".zst")
LISTS = ("k", "text_columns")
EVALUATE_SECONDS = 3600.0
Uploaded: TypeAlias = FilePath | bytes | LabelledTexts | Iterable[str]
"""A labelled file, its content, what `labelserve.read` gave; or texts, whose labels come beside."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a service; `info` is all that GET /models says about it."""

    name: str
    version: str | None
    labels: int | None
    info: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServiceHealth:
    """Whether a service can answer, and which of its models it is waiting for."""

    is_ready: bool
    status: str
    missing: tuple[str, ...] = ()


def predict_query(model: str | None, asked: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is asked about all texts, as it stands in the query of a stream."""
    return query_of({"model": model, **asked_of_texts(asked)})


def predicted(
    batch: TextBatch, query: tuple[tuple[str, str], ...], retries: int
) -> Exchange[list[TextPrediction]]:
    """One prediction a text of the batch; a text that cannot be answered is a ServiceError."""
    call = ServiceCall("POST", "/predict", query, b"".join(batch.lines), NDJSON)
    reply = yield from answered(identified(call), retries)
    answers = [json.loads(line) for line in reply.content.splitlines()]
    for number, answer in enumerate(answers):
        if "error" in answer:
            raise problem_error(
                {"request_id": _request_id(reply), **answer["error"]}, line=batch.first + number
            )
    if len(answers) != len(batch.lines):
        raise FailedError(
            f"{len(batch.lines)} texts were sent, and {len(answers)} predictions came back",
            request_id=_request_id(reply),
        )
    return [TextPrediction.of(answer) for answer in answers]


def evaluated(
    data: Uploaded,
    labels: LabelSets | None,
    arguments: Mapping[str, Any],
    retries: int,
) -> Exchange[EvaluationReport]:
    """The report on a file, or on texts and their labels."""
    query = query_of(evaluate_query(arguments))
    content, media_type = upload_of(data, labels)
    call = ServiceCall("POST", "/evaluate", query, content, media_type, False, EVALUATE_SECONDS)
    reply = yield from answered(identified(call), retries)
    return EvaluationReport(json.loads(reply.content))


def evaluate_query(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How to read and count, as it stands in a query."""
    asked = counting(arguments, UploadArguments)
    return {**asked, **{name: ",".join(map(str, asked[name])) for name in LISTS if name in asked}}


def listed(retries: int) -> Exchange[list[ServedModel]]:
    """The models that the key may see."""
    reply = yield from answered(identified(ServiceCall("GET", "/models")), retries)
    found = json.loads(reply.content)["models"]
    return [ServedModel(m["name"], m.get("version"), m.get("labels"), m) for m in found]


def asked_for_health() -> Exchange[ServiceHealth]:
    """How the service is; a service that is not ready is an answer, too."""
    reply = yield identified(ServiceCall("GET", "/health/ready"))
    if isinstance(reply, Reply):
        try:
            found = json.loads(reply.content)
            return ServiceHealth(reply.status == 200, found["status"], tuple(found["missing"]))
        except (ValueError, KeyError, TypeError):
            return ServiceHealth(False, f"status {reply.status}, which is not labelserve's")
    return ServiceHealth(False, f"no answer: {reply.reason}" if isinstance(reply, NoReply) else "")


def upload_of(data: Uploaded, labels: LabelSets | None) -> tuple[bytes | Path, str]:
    """What is sent, and its media type."""
    if isinstance(data, str | bytes | PathLike):
        if labels is not None:
            raise TypeError("labels were given beside a file that has labels of its own")
        return _file_upload(data)
    if isinstance(data, LabelledTexts) and not isinstance(data, DataTable) and labels is None:
        return upload_of(data.texts, data.labels)
    if labels is None:
        raise TypeError("texts need their labels: give a list of labels for each text")
    return b"".join(json_lines(data, labels)), NDJSON


def _file_upload(data: FilePath | bytes) -> tuple[bytes | Path, str]:
    """A file by its path, or its content, whose format is guessed."""
    if isinstance(data, bytes):
        return data, "application/octet-stream"
    file = Path(data)
    inner = file.with_suffix("") if file.suffix in PACKED else file
    return file, MEDIA_TYPES.get(inner.suffix, "application/octet-stream")


def query_of(asked: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Names and values as a query has them; several values are several pairs."""
    pairs: list[tuple[str, str]] = []
    for name, value in asked.items():
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None:
                pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return tuple(pairs)


def identified(call: ServiceCall) -> ServiceCall:
    """The call with an id that the service's log will have."""
    return replace(call, request_id=new_request_id())


def _request_id(reply: Reply) -> str:
    return reply.headers.get("x-request-id", "")
