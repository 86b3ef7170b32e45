"""Everything that can go wrong, by name and with its sentence; app/api/errors.py has the statuses.

AppError
├── InvalidDataError         a data set has a record that cannot be read as promised
├── InvalidRequestError      a request or an option has a value that is not accepted
├── UnattainableError        no cut reaches the operating point that was asked for
├── MalformedBodyError       a body is not what its media type says
├── UnauthorizedError        no valid key was sent
│   └── ExpiredKeyError        the key was valid until a time that is past
├── ForbiddenError           the key does not reach this far
├── ModelNotFoundError       no such model or version
├── EvaluationNotFoundError  no such evaluation, or none that the caller may see
├── UploadNotFoundError      no file of this SHA-256 is kept
├── ModelUnavailableError    the model exists, but cannot answer now
│   ├── DamagedArtifactError   a file on disk differs from its manifest
│   ├── FormatVersionError     the artifact was written by a newer (or too old) labelserve
│   └── MissingExtraError      an optional package is not installed
├── DrainingError            the service is shutting down
├── OverloadedError          memory is short, or too much waits to be read by clients
│   └── InsufficientMemoryError  a training would need more memory than is left
├── ConflictError            the store or a job changed under the caller
│   └── LeaseLostError         the job has another worker, or none, by now
├── DatabaseUnavailableError the database of jobs cannot be used now
├── PayloadTooLargeError     more bytes, characters or documents than allowed
├── UnsupportedMediaTypeError
├── TooManyRequestsError     more work than is admitted at once
│   └── QuotaExceededError     the key has used what it may in this minute or day
├── StorageFullError         the disk or the spool's quota is full
├── DeadlineError            the work took longer than allowed
├── EvaluationCrashedError   the process that evaluated died
├── ClusterError             workers or their scheduler could not do their tasks
├── DamagedEvaluationError   what was kept of an evaluation is not what was written
└── SettingsError            the environment or the start-up options are wrong
"""

import errno
from datetime import datetime
from math import ceil
from pathlib import Path


class AppError(Exception):
    """Base class; `code` is the stable name that clients may match on."""

    code = "internal"


class InvalidDataError(AppError):
    """A data set has a record that cannot be read as promised.

    `found` is what stands there, cut to 40 characters, `hint` what the data offer instead (columns,
    keys): both are shown on the command line, never over HTTP.
    """

    code = "bad-record"
    may_pass = False
    """Whether storage failed, and not the data: trying again may help."""

    def __init__(  # noqa: PLR0913
        self,
        problem: str,
        *,
        file: str | Path = "",
        line: int | None = None,
        column: int | None = None,
        found: str = "",
        accepted: str = "",
        hint: str = "",
    ) -> None:
        self.problem, self.file, self.line, self.column = problem, str(file), line, column
        self.found, self.accepted, self.hint = found[:40], accepted, hint
        super().__init__(problem)

    def __str__(self) -> str:
        """The sentence, with the hint that whoever caught it may have added."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        found = f"; found {self.found!r}" if self.found else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{place}{': ' if place else ''}{self.without_content()}{found}{hint}"

    def without_content(self) -> str:
        """The same sentence without a character of the data: what HTTP may say."""
        return self.problem + (f"; accepted: {self.accepted}" if self.accepted else "")


class InvalidRequestError(AppError):
    """A request or an option has a value that is not accepted; `pointer` says where in a body."""

    code = "invalid-request"

    def __init__(self, problem: str, *, pointer: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(problem)


class UnattainableError(AppError):
    """No cut reaches the operating point that was asked for; `best` is the nearest there is."""

    code = "unattainable"

    def __init__(self, asked: str, best: dict[str, float]) -> None:
        self.best = best
        there = ", ".join(f"{name} {value:.4f}" for name, value in best.items())
        super().__init__(f"{asked} cannot be reached on held-out data; the best there is: {there}")


class MalformedBodyError(AppError):
    """A body is not what its media type says."""

    code = "malformed-body"


class UnauthorizedError(AppError):
    """No valid key was sent."""

    code = "unauthorized"


class ExpiredKeyError(UnauthorizedError):
    """The key was valid until a time that is past."""

    def __init__(self, at: datetime) -> None:
        super().__init__(f"the key has expired, on {at:%Y-%m-%d at %H:%M} UTC; use another one")


class ForbiddenError(AppError):
    """The key does not reach this far."""

    code = "forbidden"


class ModelNotFoundError(AppError):
    """No such model or version; what the client sent is not echoed.

    `instead` is said where none are known.
    """

    code = "unknown-model"

    def __init__(self, known: list[str], *, instead: str = "none") -> None:
        super().__init__(f"no such model; there are: {', '.join(known) or instead}")


class EvaluationNotFoundError(AppError):
    """No such evaluation, or none that the caller may see: which of them is not said."""

    code = "unknown-evaluation"

    def __init__(self) -> None:
        super().__init__("no such evaluation")


class UploadNotFoundError(AppError):
    """No file of this SHA-256 is kept."""

    code = "unknown-upload"

    def __init__(self) -> None:
        super().__init__("no file of this SHA-256 is kept; send it with PUT /uploads/{sha256}")


class ModelUnavailableError(AppError):
    """The model exists, but cannot answer now."""

    code = "model-unavailable"


class DamagedArtifactError(ModelUnavailableError):
    """A file on disk differs from its manifest."""


class FormatVersionError(ModelUnavailableError):
    """The artifact was written by a newer (or too old) labelserve."""


def installable(extra: str) -> str:
    """What pip takes for labelserve with an extra: the package, or the checkout that this is."""
    is_checkout = (Path(__file__).parents[1] / "pyproject.toml").exists()
    return f"-e '.[{extra}]' (in its checkout)" if is_checkout else f"'labelserve[{extra}]'"


class MissingExtraError(ModelUnavailableError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs the extra '{extra}'; in the environment of labelserve: "
            f"pip install {installable(extra)}"
        )


class DrainingError(AppError):
    """The service is shutting down."""

    code = "draining"


class OverloadedError(AppError):
    """Nearly all memory is in use, or answers that clients do not read take their share of it."""

    code = "overloaded"


class InsufficientMemoryError(OverloadedError):
    """A training would need more memory than is left; the sentence says what to do."""


class ConflictError(AppError):
    """The store or a job changed under the caller."""

    code = "conflict"


class LeaseLostError(ConflictError):
    """A worker wrote to a job that is not its own any more: another has it, or it has ended."""


class DatabaseUnavailableError(AppError):
    """The database of jobs cannot be used now; what it said is for the log."""

    code = "jobs-unavailable"

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__("the database of evaluations cannot be used now; try again later")


class PayloadTooLargeError(AppError):
    """More bytes, characters or documents than allowed: the one text of every 413."""

    code = "payload-too-large"

    def __init__(self, what: str, limit: float, unit: str) -> None:
        super().__init__(f"{what} has more than {limit} {unit}, which is the limit here")


class UnsupportedMediaTypeError(AppError):
    """A body of a kind that this route does not read."""

    code = "unsupported-media-type"


class TooManyRequestsError(AppError):
    """More work than is admitted at once; `retry_after` is in seconds."""

    code = "too-many-requests"

    def __init__(self, problem: str, *, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__(problem)


class QuotaExceededError(TooManyRequestsError):
    """The key has used what it may in this minute or day; `limit` names which."""

    def __init__(self, limit: str, most: int, wait: float) -> None:
        self.limit = limit
        words = limit.replace("-per-", " a ")
        problem = f"this key may ask for {most} {words}; try again later"
        super().__init__(problem, retry_after=max(1, ceil(wait)))


class StorageFullError(AppError):
    """The disk or the spool's quota is full."""

    code = "storage-full"


class DeadlineError(AppError):
    """The work took longer than allowed."""

    code = "timeout"


class EvaluationCrashedError(AppError):
    """The process that evaluated died; the service goes on."""

    code = "internal"


class ClusterError(AppError):
    """Workers of a cluster, or their scheduler, could not do their tasks."""

    code = "internal"


class DamagedEvaluationError(AppError):
    """What was kept of an evaluation is not there, or not what was written."""

    code = "internal"


class SettingsError(AppError):
    """The environment or the start-up options are wrong."""

    code = "internal"


def errno_text(error: OSError) -> str:
    """What the system said, with the error's name and number; no file name, which may be private.

    >>> errno_text(OSError(24, "Too many open files"))
    'EMFILE (24): Too many open files'
    """
    number = error.errno or 0
    return f"{errno_name(error)} ({number}): {error.strerror or 'unknown'}"


def errno_name(error: OSError) -> str:
    """`EMFILE` and so on; the type's name for an error without a number that is known."""
    return errno.errorcode.get(error.errno or 0, type(error).__name__)
