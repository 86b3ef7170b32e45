"""The service's own counters, for Prometheus; right with several workers too."""

import asyncio
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

from app.serving.log_writer import LogWriter
from app.serving.telemetry.counters import (
    MetricFamily,
    counter,
    hidden_state,
    hidden_sums,
    histogram,
    live_max,
    live_sum,
)
from app.serving.telemetry.drift_figures import DOCUMENTS, LIVE, P_VALUE, PSI, REFERENCE
from app.serving.telemetry.exchange import SnapshotExchange
from app.serving.telemetry.exposition import exposed
from app.serving.telemetry.loop_lag import LoopLag
from app.serving.telemetry.snapshot import Snapshot

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
STAGE_SECONDS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100)
SHADOW_SECONDS = (1e-5, 2e-5, 5e-5, *(a * 10**b for b in range(-4, 0) for a in (1, 2, 5)), 1, 5)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5)
EVALUATION_SECONDS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)
LABELS = (0, 1, 2, 3, 5, 8, 13, 21, 50, 100)


class Telemetry:
    """Every metric by name; label values come from fixed sets (routes, stages, our models)."""

    def __init__(self) -> None:
        self.durations = histogram(
            "http_request_duration_seconds",
            "Time from the request's head to the end of its answer.",
            ("method", "route", "status"),
            SECONDS,
        )
        self.stages = histogram(
            "labelserve_stage_seconds", "Time spent in one stage.", ("stage",), STAGE_SECONDS
        )
        self.labels_per_document = histogram(
            "labelserve_labels_per_document", "Labels a document got.", ("model",), LABELS
        )
        self.documents = counter("labelserve_documents", "Documents answered.", ("model", "route"))
        self.rejected = counter("labelserve_rejected", "Requests turned away.", ("reason",))
        self.load_failures = counter(
            "labelserve_model_load_failures",
            "Versions that could not be loaded.",
            ("model", "reason"),
        )
        self.models_folder_failures = counter(
            "labelserve_models_folder_failures",
            "Looks at the models folder that failed.",
            ("reason",),
        )
        self.key_requests = counter(
            "labelserve_key_requests",
            "Requests by key; outcome: accepted, expired, revoked, or the limit that was reached.",
            ("key", "outcome"),
        )
        self.key_documents = counter(
            "labelserve_key_documents", "Documents answered, by key.", ("key",)
        )
        self.quota_failures = counter(
            "labelserve_quota_failures", "Requests that no quota could count.", ("reason",)
        )
        self.keys_file_failures = counter(
            "labelserve_keys_file_failures", "Looks at a changed keys file that failed.", ()
        )
        self.log_lines_dropped = counter(
            "labelserve_log_lines_dropped", "Log lines that nobody read in time.", ("stream",)
        )
        self.resource_use = live_max(
            "labelserve_resource_use_ratio",
            "Memory and disk in use, of what may be in use; above 1 work is refused.",
            ("resource",),
        )
        self.evaluations = live_max(
            "labelserve_evaluations", "Evaluations handed in that have not ended.", ("state",)
        )
        self.oldest_queued = live_max(
            "labelserve_evaluation_oldest_queued_seconds",
            "How long the oldest evaluation that waits has waited.",
            (),
        )
        self.evaluation_seconds = histogram(
            "labelserve_evaluation_seconds",
            "From the begin to the end of evaluations that were handed in.",
            (),
            EVALUATION_SECONDS,
        )
        self.evaluation_failures = counter(
            "labelserve_evaluation_failures", "Evaluations that failed.", ("reason",)
        )
        self.upkeep_failures = counter(
            "labelserve_evaluation_upkeep_failures",
            "Looks at the evaluations' database or folder that failed.",
            ("reason",),
        )
        self.in_flight = live_sum("labelserve_in_flight", "Requests under way.", ("route",))
        self.model_info = live_max(
            "labelserve_model_info", "1 for every version that answers.", ("model", "version")
        )
        self.loop_lag = histogram(
            "labelserve_loop_lag_seconds",
            "How late the event loop came to what was due; asked ten times a second.",
            (),
            LAG_SECONDS,
        )
        self._add_trials()
        self._add_drift()
        self.loop = LoopLag(self.loop_lag.labels())
        self.requests_now = 0
        self.sources: list[Callable[[], None]] = []
        """Functions that observe what they have collected; called before a snapshot is taken."""
        self._exchange: SnapshotExchange | None = None
        self._shown: set[tuple[str, str]] = set()
        self._families = [own for own in vars(self).values() if isinstance(own, MetricFamily)]

    def _add_trials(self) -> None:
        """The families of versions that are tried on live traffic."""
        self.shadow_documents = counter(
            "labelserve_shadow_documents",
            "Documents for a shadow; outcome: compared, dropped (too much to do), failed.",
            ("model", "version", "outcome"),
        )
        self.shadow_labels = counter(
            "labelserve_shadow_labels",
            "Labels that both versions assigned, or only the current one, or only the shadow.",
            ("model", "version", "assigned_by"),
        )
        self.shadow_seconds = histogram(
            "labelserve_shadow_seconds",
            "Time for a document, by the current version and by its shadow, in the background.",
            ("model", "version", "side"),
            SHADOW_SECONDS,
        )
        self.canary_requests = counter(
            "labelserve_canary_requests",
            "Requests while a canary runs, by the side that got them.",
            ("model", "version", "side", "outcome"),
        )
        self.canary_seconds = histogram(
            "labelserve_canary_seconds",
            "Time from the request's head to the end of its answer, by side.",
            ("model", "version", "side"),
            SECONDS,
        )
        self.shadow_sums = hidden_sums("shadow_sums", ("model", "version"))
        self.shadow_label_sums = hidden_sums("shadow_label_sums", ("model", "version", "label"))

    def _add_drift(self) -> None:
        """The families of drift; those that are shown are filled when all processes are summed."""
        labels = ("model", "version", "measure")
        self.drift_live = hidden_state(LIVE, labels, "sum")
        self.drift_reference = hidden_state(REFERENCE, labels, "max")
        self.drift_psi = live_max(
            PSI,
            "Population stability index of the latest documents against held-out ones.",
            labels,
        )
        self.drift_p_value = live_max(
            P_VALUE, "Two-sample test that both are alike (chi-squared).", labels
        )
        self.drift_documents = live_max(
            DOCUMENTS, "How many of the latest documents these figures rest on.", labels[:2]
        )

    def keep_trials(self, trials: Iterable[tuple[str, str]]) -> None:
        """Show only the figures of trials of these (model, version) pairs any longer."""
        kept = set(trials)
        families: list[MetricFamily[Any]] = [
            self.shadow_documents,
            self.shadow_labels,
            self.shadow_seconds,
            self.canary_requests,
            self.canary_seconds,
            self.shadow_sums,
            self.shadow_label_sums,
        ]
        for family in families:
            family.keep(lambda labels: labels[:2] in kept)

    def show_models(self, versions: Iterable[tuple[str, str]]) -> None:
        """Make `labelserve_model_info` say that exactly these (model, version) pairs answer."""
        now = set(versions)
        for model, version in self._shown - now:
            self.model_info.remove(model, version)
        for model, version in now - self._shown:
            self.model_info.labels(model, version).set(1)
        self._shown = now

    def show_dropped_lines(self, writers: Iterable[LogWriter]) -> None:
        """Show how many log lines of this process's outputs were dropped."""
        for writer in writers:
            self.log_lines_dropped.show(writer.dropped, writer.name)

    def snapshot(self) -> Snapshot:
        """The figures of this process; any thread may ask."""
        self.in_flight.labels("all").set(self.requests_now)
        return tuple(family.snapshot() for family in self._families)

    def share(self, connection: Connection) -> None:
        """Send the figures to a supervisor, from now on, and show those of all its workers."""
        self._exchange = SnapshotExchange(connection, self.snapshot, lambda: self.loop.turns)
        self._exchange.start()

    async def total(self) -> Snapshot:
        """The figures of all workers; asked on the event loop, where requests are counted."""
        for source in self.sources:
            source()
        return self.snapshot() if self._exchange is None else await self._exchange.total()

    async def text(self) -> bytes:
        """All figures, of all workers, in Prometheus's text format."""
        return await asyncio.to_thread(exposed, await self.total())
