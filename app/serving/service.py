"""Service: the running parts together, without HTTP."""

import asyncio
import ctypes
import gc
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from app.artifacts.store import Store
from app.compiling.take_over import KernelSwitch
from app.errors import errno_text
from app.serving.admission import Admission, BodyBudget
from app.serving.failures import kind_of
from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.upkeep.accounting import Accounting
from app.serving.jobs.upkeep.retention import Retention, RetentionLimits
from app.serving.jobs.upkeep.upkeep import Upkeep
from app.serving.keys import KeysFile
from app.serving.live.observer import LiveObserver
from app.serving.logs import in_brief
from app.serving.quotas import Quotas
from app.serving.registry import Registry
from app.serving.resources.guard import ResourceGuard
from app.serving.spool import Spool
from app.serving.telemetry.telemetry import Telemetry
from app.serving.unsent_answers import UnsentAnswers
from app.settings import Settings

THREADS = 2
LONGEST_START, LONGEST_END = 20.0, 0.5
LOOK_SECONDS = 0.05
SWITCH_SECONDS = 0.2
COLLECT_SECONDS = 60.0  # between two collections of all garbage
LONGEST_BACK_OFF = 10.0
EVENT_STREAMS = 100  # each asks the database once a second
COMPARISONS = 2  # each a process
LARGE_BODIES = 8  # bodies of full length that may be in memory at once

log = logging.getLogger("labelserve.service")
audit = logging.getLogger("labelserve.audit")
audit.setLevel(logging.INFO)  # whatever LOG_LEVEL is: who changed what is always written


@dataclass(slots=True)
class Service:
    """Everything a route may need; made once, passed on as an argument."""

    settings: Settings
    registry: Registry
    telemetry: Telemetry
    keys: KeysFile | None
    documents: Admission
    evaluations: Admission
    uploads: Admission
    event_streams: Admission
    comparisons: Admission
    bodies: Admission
    unsent: UnsentAnswers
    resources: ResourceGuard
    spool: Spool
    quotas: Quotas
    archive: EvaluationArchive
    upkeep: Upkeep
    threads: ThreadPoolExecutor
    """For predictions."""
    short_threads: ThreadPoolExecutor
    """For reading and writing JSON."""
    live: LiveObserver
    is_draining: bool = False
    kernel_switch: KernelSwitch = field(default_factory=KernelSwitch, repr=False)
    _looking: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _stopped: threading.Event = field(default_factory=threading.Event, repr=False)
    _watching: threading.Thread | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Service":
        """The parts these settings ask for; nothing is loaded yet."""
        telemetry = Telemetry()
        registry = Registry(
            Store(settings.models_dir),
            default=settings.default_model,
            required=settings.required_models,
            on_failure=lambda name, kind: telemetry.load_failures.labels(name, kind).inc(),
        )
        keys = None
        if settings.effective_auth == "keys" and settings.api_keys_file is not None:
            keys = KeysFile(settings.api_keys_file, telemetry.keys_file_failures.labels().inc)
        archive = EvaluationArchive.of(settings)
        quotas = Quotas(
            settings.data_dir, lambda reason: telemetry.quota_failures.labels(reason).inc()
        )
        documents = Admission(
            settings.max_concurrency, "documents", longest_wait=settings.request_seconds / 2
        )
        return cls(
            settings,
            registry,
            telemetry,
            keys,
            documents,
            Admission(settings.max_evaluations, "evaluations"),
            Admission(settings.max_evaluations, "uploads"),
            Admission(EVENT_STREAMS, "event streams"),
            Admission(COMPARISONS, "comparisons"),
            Admission(settings.max_body_bytes * LARGE_BODIES, "large bodies"),
            UnsentAnswers(settings.max_unsent_bytes),
            ResourceGuard(
                settings.data_dir,
                memory_percent=settings.max_memory_percent,
                disk_percent=settings.max_disk_percent,
            ),
            Spool(settings.data_dir),
            quotas,
            archive,
            Upkeep(
                archive,
                Accounting(archive, telemetry, quotas, keys),
                Retention(archive, RetentionLimits.of(settings)),
                lambda reason: telemetry.upkeep_failures.labels(reason).inc(),
            ),
            ThreadPoolExecutor(THREADS, thread_name_prefix="predict"),
            ThreadPoolExecutor(1, thread_name_prefix="json"),
            LiveObserver(registry, telemetry, lambda: documents.is_overrun),
        )

    def body_budget(self) -> BodyBudget:
        """Bytes of memory for one body, given back when the block ends."""
        return BodyBudget(self.bodies, self.resources.check_memory)

    def count_cut(self) -> None:
        """Count an answer that its client did not read in time."""
        self.telemetry.rejected.labels("unread").inc()

    def _show_resources(self) -> None:
        for name, ratio in self.resources.ratios().items():
            self.telemetry.resource_use.labels(name).set(ratio)

    async def start(self) -> None:
        """Begin to watch the models folder; the first look loads what is there."""
        self.telemetry.loop.start()
        self.telemetry.sources.append(self._show_resources)
        try:
            self.spool.open()
        except OSError as error:
            log.error("uploads will be refused: %s: %s", error.filename, errno_text(error))
        self.kernel_switch.begin()
        self.upkeep.start()
        self.live.start()
        looked = threading.Event()
        # A thread of its own: loading waits for no prediction, nor they for it; and it is left
        # behind when the service ends, since a model or its kernels may take long to prepare.
        self._watching = threading.Thread(target=self._watch, args=(looked,), daemon=True)
        self._watching.start()
        if self.settings.workers > 1:
            # Workers share a listener: one that has no models yet leaves requests to the others.
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_START):
                    while not looked.is_set() and not self.is_draining:
                        await asyncio.sleep(LOOK_SECONDS)

    async def stop(self) -> None:
        """End everything that was started."""
        self.telemetry.loop.stop()
        self._stopped.set()
        self.live.stop()
        if self._watching is not None:
            await asyncio.to_thread(self._watching.join, LONGEST_END)
        self.kernel_switch.end()
        await asyncio.to_thread(self.upkeep.stop)
        await self.telemetry.total()  # so that the last requests are counted and logged
        self.spool.close()
        self.quotas.close()
        self.archive.close()
        for threads in (self.threads, self.short_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    def look(self) -> None:
        """Load what is new and drop what is gone, now; one thread at a time."""
        with self._looking:
            self._look()

    def promote(self, name: str, version: str, caller: str) -> None:
        """Make a version current once it is verified, and answer with it.

        Other workers and replicas find it when they look next. One line of the log says who did it.
        """
        with self._looking:
            before = self.registry.loaded.get(name)
            promoted = self.registry.promote(name, version)  # held until it has taken over
        was = "none" if before is None else before.model.version
        audit.info(
            "%s made %s@%s current in place of %s", caller, name, promoted.model.version, was
        )
        self._has_looked()

    def _look(self) -> None:
        before = self.registry.loaded
        self.registry.refresh()
        if self.kernel_switch.poll():
            self.registry.reload()
        loaded = self.registry.loaded
        if loaded is not before:
            # What was loaded stays: the garbage collector need not look through it every time.
            gc.collect()
            gc.freeze()
        self.telemetry.show_models((name, found.model.version) for name, found in loaded.items())
        self.live.keep()

    @property
    def is_loading(self) -> bool:
        """Whether the models folder is still looked at, though all has been told to stop."""
        return self._watching is not None and self._watching.is_alive()

    def _watch(self, looked: threading.Event) -> None:
        failed, collected = 0, monotonic()
        while not self._stopped.is_set():
            if monotonic() > collected + COLLECT_SECONDS:
                collect_garbage()
                collected = monotonic()
            failed = 0 if self._has_looked() else failed + 1
            looked.set()
            self._stopped.wait(self._pause(failed))

    def _pause(self, failed: int) -> float:
        """Seconds until the next look; short ones while kernels are being compiled."""
        pause = back_off(self.settings.poll_seconds, failed)
        return min(pause, SWITCH_SECONDS) if self.kernel_switch.is_pending else pause

    def _has_looked(self) -> bool:
        """Look at the models folder; False where that failed, and everything is as it was."""
        try:
            self.look()
        except Exception as error:
            self.telemetry.models_folder_failures.labels(kind_of(error)).inc()
            folder, why = self.settings.models_dir, in_brief(error)
            log.error("the models folder %s cannot be looked at: %s", folder, why)
            return False
        return True


def collect_garbage() -> None:
    """Free objects that only refer to each other, and give free memory back to the system.

    The C library keeps, for each thread, what large answers took; only glibc can be told.
    """
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def back_off(pause: float, failed: int) -> float:
    """Seconds to wait after so many failures in a row: twice as long each time, to a bound.

    >>> [back_off(2.0, failed) for failed in (0, 1, 2, 3, 1000)]
    [2.0, 4.0, 8.0, 10.0, 10.0]
    """
    return max(pause, min(pause * 2.0 ** min(failed, 10), LONGEST_BACK_OFF))
