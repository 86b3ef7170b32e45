"""LiveObserver: the thread that works on documents taken aside, in what time others leave it."""

import logging
import threading
from collections.abc import Callable
from time import monotonic, perf_counter

from app.serving.live.drift import LiveDrift
from app.serving.live.sample import LiveSample
from app.serving.live.shadow import ShadowComparison
from app.serving.live.versions import CurrentVersions
from app.serving.telemetry.telemetry import Telemetry

DRIFT_SECONDS, DRIFT_DOCUMENTS = 1.0, 100
"""At most so many documents are counted for drift in so many seconds."""
LOOK_SECONDS = 0.05
REST = 4.0
"""Rest after each document, in units of the time it took: at most a fifth of a processor."""

log = logging.getLogger("labelserve.live")


class LiveObserver:
    """Shadow comparisons and drift of live traffic; nothing in it is ever waited for."""

    def __init__(
        self, registry: CurrentVersions, telemetry: Telemetry, is_overrun: Callable[[], bool]
    ) -> None:
        self._registry, self._telemetry = registry, telemetry
        self.sample = LiveSample(registry, telemetry, is_overrun)
        self._shadow, self._drift = ShadowComparison(telemetry), LiveDrift(telemetry)
        self._drift_due = 0.0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Work in a thread, from now on."""
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Work no longer; what waits is forgotten."""
        self._stopped.set()

    def keep(self) -> None:
        """Forget the figures of trials that ended, and of versions that are no longer current."""
        known = self._registry.trials.known
        trials = {(name, trial.version) for (name, _), trial in known.items()}
        self._telemetry.keep_trials(trials)
        self._shadow.keep(trials)
        if self._registry.trials.shadows:
            self.sample.is_wanted = True
        loaded = self._registry.loaded
        self._drift.keep({name: found.model.version for name, found in loaded.items()})

    def work_off(self, rest: float = 0.0) -> None:
        """Work on all that was taken until now."""
        self._count_drift()
        while not self._stopped.is_set():
            document = self.sample.next_document()
            if document is None:
                return
            start = perf_counter()
            self._shadow.compare(document)
            if rest:
                self._stopped.wait(rest * (perf_counter() - start))
                self._count_drift()

    def _count_drift(self) -> None:
        now = monotonic()
        if now >= self._drift_due:
            self._drift_due = now + DRIFT_SECONDS
            self._drift.count(self.sample.take_drift(DRIFT_DOCUMENTS))

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            try:
                self.work_off(REST)
            except Exception as error:  # the documents of a moment are lost, the next are counted
                log.error("live traffic was not observed: %s", type(error).__name__)
