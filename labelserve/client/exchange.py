"""What a client sends and when it tries again, without sending: both clients run the same steps.

An exchange is a generator. It yields a ServiceCall to be sent, or a Pause to be waited for, is sent
the Reply (or that there was none), and returns what came of it.
"""

import hashlib
import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar
from uuid import uuid4

from labelserve.client.errors import ServiceError, UnansweredError, error_of

FIRST_WAIT, LONGEST_WAIT = 0.25, 60.0
"""Seconds. A service that asks for a longer wait (a day's limit is used up) is not waited for."""
RETRIED = (429, 503)


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """One HTTP request. `is_cheap`: it may be sent once more where the answer to it was lost."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    content: bytes | Path = b""
    media_type: str = ""
    is_cheap: bool = True
    seconds: float | None = None
    """How long an answer may take; None: as long as the client allows."""
    request_id: str = ""
    accept: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of this call alone."""
        typed = {"content-type": self.media_type} if self.media_type else {}
        wanted = {"accept": self.accept} if self.accept else {}
        return {"x-request-id": self.request_id, **typed, **wanted}


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer, read whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class NoReply:
    """Why there is none, and whether the service may have begun to work on it."""

    reason: str
    was_sent: bool
    is_timeout: bool


@dataclass(frozen=True, slots=True)
class FileDigest:
    """A file whose SHA-256 is wanted, in hexadecimal; it may take a while to read."""

    file: Path

    def result(self) -> str:
        """The digest."""
        with self.file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait."""

    seconds: float


Result = TypeVar("Result")
Step: TypeAlias = ServiceCall | Pause | FileDigest
Outcome: TypeAlias = Reply | NoReply | str | None
"""What comes of a step: an answer to a call or why there is none, a digest; None of a pause."""
Exchange: TypeAlias = Generator[Step, Outcome, Result]


@dataclass(frozen=True, slots=True)
class Finished(Generic[Result]):
    """What an exchange returned."""

    result: Result


def next_step(exchange: Exchange[Result], outcome: Outcome = None) -> Step | Finished[Result]:
    """The step after one that had this outcome, or that there is none."""
    try:
        return exchange.send(outcome)
    except StopIteration as done:
        return Finished(done.value)


def new_request_id() -> str:
    """What the service's log will call a request; the same for every try."""
    return f"py-{uuid4().hex[:16]}"


def answered(
    call: ServiceCall, retries: int, statuses: tuple[int, ...] = (200,)
) -> Exchange[Reply]:
    """The answer with one of the statuses, tried several times where safe; else a ServiceError.

    What is refused has changed nothing at a service, so a call may be repeated: after 429 and 503,
    where no connection came about, and, if it is cheap, where it broke. A timeout is not tried
    again: the service is slow already.
    """
    attempt = 0
    while True:
        reply = yield call
        if isinstance(reply, Reply) and reply.status in statuses:
            return reply
        wait = _wait(reply, attempt)
        if attempt >= retries or wait > LONGEST_WAIT or not _may_repeat(reply, call):
            raise _error(reply, call)
        yield Pause(wait)
        attempt += 1


def _error(reply: Outcome, call: ServiceCall) -> ServiceError:
    if isinstance(reply, Reply):
        request_id = reply.headers.get("x-request-id", call.request_id)
        return error_of(reply.status, reply.content, request_id)
    reason = reply.reason if isinstance(reply, NoReply) else ""
    return UnansweredError(f"no answer: {reason}", request_id=call.request_id)


def _may_repeat(reply: Outcome, call: ServiceCall) -> bool:
    if isinstance(reply, Reply):
        return reply.status in RETRIED
    if not isinstance(reply, NoReply):
        return False
    return not reply.was_sent or (call.is_cheap and not reply.is_timeout)


def _wait(reply: Outcome, attempt: int) -> float:
    """What the service asks for, else twice as long as before, with some chance in it."""
    asked = reply.headers.get("retry-after", "") if isinstance(reply, Reply) else ""
    if asked.isdigit():
        return float(asked)
    return FIRST_WAIT * 2.0**attempt * random.uniform(0.5, 1.0)  # noqa: S311
