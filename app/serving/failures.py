"""Versions that could not be loaded: why, and when each is tried again."""

import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic

from app.errors import AppError, errno_name, errno_text

FIRST_RETRY, LAST_RETRY = 1.0, 60.0

OnFailure = Callable[[str, str], None]

log = logging.getLogger("labelserve.registry")


@dataclass(frozen=True, slots=True)
class Failure:
    """A version that could not be loaded, and when it is tried again."""

    version: str
    reason: str
    retry_at: float
    wait: float


class Failures:
    """At most one a name; one thread writes, others see it before or after, never in between."""

    def __init__(self, on_failure: OnFailure) -> None:
        self._on_failure = on_failure
        self.by_name: dict[str, Failure] = {}

    def is_due(self, name: str, version: str) -> bool:
        """Whether the version may be tried now: it is another one, or it has waited long enough."""
        before = self.by_name.get(name)
        return before is None or before.version != version or monotonic() >= before.retry_at

    def note(self, name: str, version: str, error: Exception) -> None:
        """Remember a failure; a version that fails again waits longer, and is counted once."""
        before = self.by_name.get(name)
        wait, reason = FIRST_RETRY, reason_of(error)
        if before is not None and before.version == version:
            wait = min(before.wait * 2, LAST_RETRY)
        else:
            log.error("%s@%s cannot be loaded: %s", name.partition("@")[0], version, reason)
            self._on_failure(name.partition("@")[0], kind_of(error))
        failure = Failure(version, reason, monotonic() + wait, wait)
        self.by_name = {**self.by_name, name: failure}

    def forget(self, name: str) -> None:
        """It is loaded now."""
        self.keep(self.by_name.keys() - {name})

    def keep(self, names: Collection[str]) -> None:
        """Forget all others."""
        self.by_name = {name: found for name, found in self.by_name.items() if name in names}


def reason_of(error: Exception) -> str:
    """What an error of ours or of the system says; of others only the type."""
    if isinstance(error, OSError):
        return errno_text(error)
    return str(error) if isinstance(error, AppError) else kind_of(error)


def kind_of(error: Exception) -> str:
    """`damaged-artifact` for our own errors, `EMFILE` for the system's, else the type's name."""
    if isinstance(error, OSError):
        return errno_name(error)
    name = type(error).__name__
    if not isinstance(error, AppError):
        return name
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name.removesuffix("Error")).lower()
