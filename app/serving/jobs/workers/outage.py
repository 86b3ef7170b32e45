"""Outage: the time in which the database cannot be used, said once, and waited out in pauses."""

import logging
from time import monotonic

from app.errors import AppError, DatabaseUnavailableError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0

log = logging.getLogger("labelserve.jobs")


class Outage:
    """What was said about it, and how long the next pause is."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._pause = FIRST_PAUSE

    def pause_after(self, error: AppError) -> float:
        """Seconds to wait after this failure; twice as many as after the one before, to a bound."""
        if self._since is None:
            self._since, self._pause = monotonic(), FIRST_PAUSE
            why = error.why if isinstance(error, DatabaseUnavailableError) else str(error)
            log.error("the database of evaluations cannot be used, and is tried again: %s", why)
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        return pause

    def is_over(self) -> None:
        """The database could be used."""
        if self._since is not None:
            seconds = monotonic() - self._since
            log.info("the database of evaluations can be used again, after %.1f s", seconds)
            self._since = None
