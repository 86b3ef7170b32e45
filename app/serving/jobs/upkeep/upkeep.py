"""Upkeep: a thread that counts evaluations and removes what is too much, again and again."""

import logging
import threading
from collections.abc import Callable
from time import monotonic

from app.errors import AppError, DatabaseUnavailableError
from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.upkeep.accounting import Accounting
from app.serving.jobs.upkeep.retention import Retention
from app.serving.logs import in_brief

LOOK_SECONDS, RETENTION_SECONDS, CLEAN_SECONDS = 2.0, 60.0, 3600.0
LONGEST_END = 0.5

log = logging.getLogger("labelserve.evaluations")


class Upkeep:
    """The thread; a database or a disk that fails is told to `on_failure`, and tried again."""

    def __init__(
        self,
        archive: EvaluationArchive,
        accounting: Accounting,
        retention: Retention,
        on_failure: Callable[[str], None],
    ) -> None:
        self._archive = archive
        self._steps = [
            _Step(accounting.count, LOOK_SECONDS),
            _Step(accounting.cancel_revoked, LOOK_SECONDS),
            _Step(retention.apply, RETENTION_SECONDS),
            _Step(retention.clean, CLEAN_SECONDS),
        ]
        self._on_failure = on_failure
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)
        self._failure = ""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what it is at is not waited for: every step may be the last."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(LONGEST_END)

    def look(self) -> None:
        """Do what is due now; nothing before the first evaluation was handed in."""
        for step in self._steps:
            if self._archive.is_begun and step.is_due():
                self._take(step)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(LOOK_SECONDS)

    def _take(self, step: "_Step") -> None:
        try:
            step.run()
            self._failure = ""
        except Exception as error:  # it goes on with the next step, and with this one later
            self._on_failure(error.code if isinstance(error, AppError) else type(error).__name__)
            why = error.why if isinstance(error, DatabaseUnavailableError) else in_brief(error)
            if why != self._failure:
                log.error("evaluations cannot be looked after: %s", why)
            self._failure = why


class _Step:
    """A function that is called again when so many seconds have passed."""

    def __init__(self, run: Callable[[], object], seconds: float) -> None:
        self.run, self._seconds = run, seconds
        self._next = 0.0

    def is_due(self) -> bool:
        """Whether it is time; if so, the time begins anew."""
        if monotonic() < self._next:
            return False
        self._next = monotonic() + self._seconds
        return True
