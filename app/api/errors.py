"""Which HTTP answer each error of app/errors.py becomes (RFC 9457). The only place that knows."""

import re
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Send

from app.errors import (
    AppError,
    ClusterError,
    ConflictError,
    DamagedArtifactError,
    DamagedEvaluationError,
    DatabaseUnavailableError,
    DeadlineError,
    DrainingError,
    EvaluationCrashedError,
    EvaluationNotFoundError,
    ExpiredKeyError,
    ForbiddenError,
    FormatVersionError,
    InsufficientMemoryError,
    InvalidDataError,
    InvalidRequestError,
    LeaseLostError,
    MalformedBodyError,
    MissingExtraError,
    ModelNotFoundError,
    ModelUnavailableError,
    OverloadedError,
    PayloadTooLargeError,
    QuotaExceededError,
    SettingsError,
    StorageFullError,
    TooManyRequestsError,
    UnattainableError,
    UnauthorizedError,
    UnsupportedMediaTypeError,
    UploadNotFoundError,
)

STATUS: dict[type[AppError], int] = {
    InvalidDataError: 422,
    InvalidRequestError: 422,
    UnattainableError: 422,
    MalformedBodyError: 400,
    UnauthorizedError: 401,
    ExpiredKeyError: 401,
    ForbiddenError: 403,
    ModelNotFoundError: 404,
    EvaluationNotFoundError: 404,
    UploadNotFoundError: 404,
    ModelUnavailableError: 503,
    DamagedArtifactError: 503,
    FormatVersionError: 503,
    MissingExtraError: 503,
    DrainingError: 503,
    OverloadedError: 503,
    InsufficientMemoryError: 503,
    ConflictError: 409,
    LeaseLostError: 409,
    DatabaseUnavailableError: 503,
    PayloadTooLargeError: 413,
    UnsupportedMediaTypeError: 415,
    TooManyRequestsError: 429,
    QuotaExceededError: 429,
    StorageFullError: 507,
    DeadlineError: 504,
    EvaluationCrashedError: 500,
    ClusterError: 500,
    DamagedEvaluationError: 500,
    SettingsError: 500,
}

PROBLEM = b"application/problem+json"
EXPIRED = b'Bearer error="invalid_token", error_description="the key has expired"'
MOST_POINTERS = 10
MOST_DETAIL = 2000
HEADERS_OF_FRAMEWORK = {"allow"}
FIELD = re.compile(r"unknown field `([a-z][a-z_]{0,29})`\Z")
"""A field that may be named: words such as a typing error has, too short and plain for content."""
UNSAID = (
    (FIELD, r"a field that is not known: \1"),
    (re.compile("unknown field `.*", re.DOTALL), "a field that is not known"),
    (re.compile("Invalid enum value .*", re.DOTALL), "a value that is not accepted here"),
)
"""What the decoder says with the client's own words in it, and what is said instead."""

Headers = list[tuple[bytes, bytes]]


class Problem(msgspec.Struct, omit_defaults=True):
    """The body of every error answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    line: int | None = None
    best: dict[str, float] | None = None
    errors: list[dict[str, str]] | None = None


class ProtocolError(msgspec.Struct):
    """The body of every error answer under /v2, as the Open Inference Protocol demands."""

    error: str


def problem(error: Exception, request_id: str) -> tuple[int, Headers, bytes]:
    """Status, headers and body of the answer to an error; nothing the client sent is in it."""
    found = problem_of(error, request_id)
    headers = [(b"content-type", PROBLEM), *_headers(error)]
    return found.status, headers, msgspec.json.encode(found)


async def send_problem(error: Exception, request_id: str, send: Send) -> None:
    """Send the answer to an error, where none has begun."""
    status, headers, body = problem(error, request_id)
    headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def protocol_error(headers: Headers, body: bytes) -> tuple[Headers, bytes]:
    """The same error as the Open Inference Protocol wants it: `{"error": "…"}`."""
    found = msgspec.json.decode(body, type=Problem)
    others = [(name, value) for name, value in headers if name != b"content-type"]
    content = msgspec.json.encode(ProtocolError(found.detail))
    return [(b"content-type", b"application/json"), *others], content


def problem_of(error: Exception, request_id: str) -> Problem:
    """What an answer says about an error."""
    if isinstance(error, AppError):
        return _of_ours(error, request_id)
    if isinstance(error, RequestValidationError):
        return _of_parameters(error, request_id)
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase
        return Problem("about:blank", phrase, error.status_code, phrase, request_id)
    sentence = "something went wrong here; the log has the request id"
    return Problem("urn:labelserve:error:internal", "Internal", 500, sentence, request_id)


def invalid_body(error: Exception) -> AppError:
    """Our error for what the decoder says of a body, without the client's own words."""
    if not isinstance(error, msgspec.ValidationError):
        return MalformedBodyError("the body is not JSON as RFC 8259 has it, in UTF-8")
    sentence, at, place = str(error).rpartition(" - at `$")
    if not at:
        sentence, place = place, ""
    for pattern, said in UNSAID:
        sentence = pattern.sub(said, sentence)
    return InvalidRequestError(sentence, pointer=_pointer(place.rstrip("`")))


def _pointer(path: str) -> str:
    """A JSON pointer from a decoder's path; the empty one is the body as a whole.

    >>> _pointer(".documents[3].text")
    '/documents/3/text'
    """
    return "".join(f"/{part}" for part in re.findall(r"[a-z_]+|\d+", path))


def _of_ours(error: AppError, request_id: str) -> Problem:
    status = STATUS[type(error)]
    detail = error.without_content() if isinstance(error, InvalidDataError) else str(error)
    found = Problem(
        f"urn:labelserve:error:{error.code}",
        error.code.replace("-", " ").capitalize(),
        status,
        detail[:MOST_DETAIL],
        request_id,
    )
    if isinstance(error, InvalidDataError):
        found.line = error.line
    if isinstance(error, UnattainableError):
        found.best = error.best
    if isinstance(error, InvalidRequestError) and error.pointer is not None:
        found.errors = [{"pointer": error.pointer, "detail": detail[:MOST_DETAIL]}]
    return found


def _of_parameters(error: RequestValidationError, request_id: str) -> Problem:
    places = [_parameter(found) for found in error.errors()[:MOST_POINTERS]]
    detail = "; ".join(f"{place['pointer']}: {place['detail']}" for place in places)[:MOST_DETAIL]
    code = InvalidRequestError.code
    return Problem(
        f"urn:labelserve:error:{code}", "Invalid request", 422, detail, request_id, errors=places
    )


def _parameter(found: dict[str, Any]) -> dict[str, str]:
    # The message names what is accepted; the value found ("input", "ctx") stays out.
    if found["type"] == "extra_forbidden":  # its name is the client's own word
        return {"pointer": f"/{found['loc'][0]}", "detail": "a name that is not known"}
    pointer = "/" + "/".join(str(part) for part in found["loc"][:2])
    detail = str(found["msg"])
    return {"pointer": pointer[:80], "detail": detail[:200]}


def _headers(error: Exception) -> Headers:
    if isinstance(error, ExpiredKeyError):
        return [(b"www-authenticate", EXPIRED)]
    if isinstance(error, UnauthorizedError):
        return [(b"www-authenticate", b"Bearer")]
    if isinstance(error, TooManyRequestsError):
        return [(b"retry-after", str(error.retry_after).encode())]
    if isinstance(error, ModelUnavailableError | DrainingError | OverloadedError):
        return [(b"retry-after", b"5")]
    if isinstance(error, StorageFullError):
        return [(b"retry-after", b"30")]
    if isinstance(error, HTTPException):
        pairs = (error.headers or {}).items()
        return [
            (k.lower().encode(), v.encode()) for k, v in pairs if k.lower() in HEADERS_OF_FRAMEWORK
        ]
    return []
