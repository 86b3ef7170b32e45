"""The service's own counters, for Prometheus; right with several workers too.

With several workers prometheus_client keeps every worker's figures in files of the folder that
PROMETHEUS_MULTIPROC_DIR names (app/main.py sets it), and whoever is asked sums them up.
"""

import os
from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector

from app.serving.telemetry.batched_metrics import BatchedCounter, BatchedHistogram

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
STAGE_SECONDS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100)
LABELS = (0, 1, 2, 3, 5, 8, 13, 21, 50, 100)
MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"


class Telemetry:
    """Every counter by name; label values come from fixed sets (routes, stages, our models)."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.durations = self._histogram(
            "http_request_duration_seconds",
            "Time from the request's head to the end of its answer.",
            ("method", "route", "status"),
            SECONDS,
        )
        self.stages = self._histogram(
            "labelserve_stage_seconds", "Time spent in one stage.", ("stage",), STAGE_SECONDS
        )
        self.labels_per_document = self._histogram(
            "labelserve_labels_per_document", "Labels a document got.", ("model",), LABELS
        )
        self.documents = self._counter(
            "labelserve_documents", "Documents answered.", ("model", "route")
        )
        self.rejected = self._counter("labelserve_rejected", "Requests turned away.", ("reason",))
        self.load_failures = self._counter(
            "labelserve_model_load_failures",
            "Versions that could not be loaded.",
            ("model", "reason"),
        )
        self.in_flight = self._gauge(
            "labelserve_in_flight", "Requests under way.", ("route",), "livesum"
        )
        self.model_info = self._gauge(
            "labelserve_model_info",
            "1 for every version that answers.",
            ("model", "version"),
            "livemax",
        )
        self.requests_now = 0
        self.sources: list[Callable[[], None]] = []
        """Called before figures are passed on: who has some that were not observed yet."""
        self._tallies: dict[tuple[object, ...], BatchedHistogram] = {}
        self._counts: dict[tuple[object, ...], BatchedCounter] = {}
        self._shown: set[tuple[str, str]] = set()
        self.pass_on()

    def tally(self, histogram: Histogram, *labels: object) -> BatchedHistogram:
        """What the event loop observes for these labels of a histogram."""
        key = (histogram, *labels)
        if key not in self._tallies:
            self._tallies[key] = BatchedHistogram(histogram.labels(*labels))
        return self._tallies[key]

    def count(self, counter: Counter, *labels: object) -> BatchedCounter:
        """What the event loop counts for these labels of a counter."""
        key = (counter, *labels)
        if key not in self._counts:
            self._counts[key] = BatchedCounter(counter.labels(*labels))
        return self._counts[key]

    def pass_on(self) -> None:
        """Make Prometheus's figures those of the event loop; called there, every second."""
        for source in self.sources:
            source()
        for tally in self._tallies.values():
            tally.pass_on()
        for count in self._counts.values():
            count.pass_on()
        self.in_flight.labels("all").set(self.requests_now)

    def show_models(self, versions: Iterable[tuple[str, str]]) -> None:
        """Make `labelserve_model_info` say that exactly these (model, version) pairs answer."""
        now = set(versions)
        for model, version in self._shown - now:
            self.model_info.labels(model, version).set(0)
            if MULTIPROCESS not in os.environ:
                self.model_info.remove(model, version)
        for model, version in now - self._shown:
            self.model_info.labels(model, version).set(1)
        self._shown = now

    def text(self) -> bytes:
        """All figures, of all workers, in Prometheus's text format."""
        self.pass_on()
        return generate_latest(scraped_registry(self.registry))

    def _histogram(
        self, name: str, text: str, labels: tuple[str, ...], buckets: tuple[float, ...]
    ) -> Histogram:
        return Histogram(name, text, labels, registry=self.registry, buckets=buckets)

    def _counter(self, name: str, text: str, labels: tuple[str, ...]) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, labels: tuple[str, ...], mode: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry, multiprocess_mode=mode)  # type: ignore[arg-type]


def scraped_registry(own: CollectorRegistry) -> CollectorRegistry:
    """This process's registry, or with several workers the sum of theirs."""
    if MULTIPROCESS not in os.environ:
        return own
    summed = CollectorRegistry()
    MultiProcessCollector(summed)  # type: ignore[no-untyped-call]
    return summed


def serve_metrics(host: str, port: int, registry: CollectorRegistry) -> None:
    """Answer `GET /metrics` on a port of its own, to anyone who reaches it."""
    start_http_server(port, addr=host, registry=registry)
