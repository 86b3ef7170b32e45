"""Snapshots in Prometheus's text format, as a text and on a port; all that knows its client."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from math import isinf

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from app.errors import SettingsError, errno_text
from app.serving.telemetry.drift_figures import with_drift_figures
from app.serving.telemetry.snapshot import FamilySnapshot, Snapshot


class SnapshotCollector(Collector):
    """Gives Prometheus's client the figures of a new snapshot whenever it asks."""

    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        """Every family that is shown, with its samples."""
        families = with_drift_figures(self._snapshot())
        return (_metric(family) for family in families if family.is_shown)


def exposed(snapshot: Snapshot) -> bytes:
    """The snapshot in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: snapshot))
    return generate_latest(registry)


def serve_metrics(host: str, port: int, snapshot: Callable[[], Snapshot]) -> None:
    """Answer `GET /metrics` on a port of its own, to anyone who reaches it; in a thread.

    SettingsError where the port cannot be had.
    """
    registry = CollectorRegistry(auto_describe=True)  # knows names, so that `?name[]=` can choose
    registry.register(SnapshotCollector(snapshot))
    try:
        start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise SettingsError(
            f"LABELSERVE_METRICS_PORT: {host}:{port}: {errno_text(error)}"
        ) from error


def _metric(family: FamilySnapshot) -> Metric:
    if family.kind == "histogram":
        return _histogram(family)
    is_counter = family.kind == "counter"
    metric = (CounterMetricFamily if is_counter else GaugeMetricFamily)(
        family.name, family.help, labels=family.label_names
    )
    for labels, (value,) in family.series.items():
        metric.add_metric(labels, value)
    return metric


def _histogram(family: FamilySnapshot) -> Metric:
    metric = HistogramMetricFamily(family.name, family.help, labels=family.label_names)
    bounds = ["+Inf" if isinf(bound) else str(float(bound)) for bound in family.bounds]
    for labels, (*counts, total) in family.series.items():
        cumulated = list(zip(bounds, accumulate(counts), strict=True))
        metric.add_metric(labels, cumulated, total)
    return metric
