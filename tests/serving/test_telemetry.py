"""Telemetry: figures without a lock, snapshots of several processes, and what Prometheus reads."""

import asyncio
import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from time import monotonic, sleep

import msgspec
import prometheus_client
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from app.serving.telemetry import exchange
from app.serving.telemetry.counters import counter, histogram
from app.serving.telemetry.exchange import SnapshotAggregator, WorkerFigures
from app.serving.telemetry.exposition import exposed
from app.serving.telemetry.snapshot import Snapshot, decode, encode, merged, without_gauges
from app.serving.telemetry.telemetry import LABELS, SECONDS, STAGE_SECONDS, Telemetry

BOUNDS = [SECONDS, STAGE_SECONDS, LABELS, (0.5,)]
OBSERVED = st.one_of(
    st.floats(0, 1000), st.sampled_from(sorted({bound for bounds in BOUNDS for bound in bounds}))
)
ON_A_BUSY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def samples(text: bytes) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample of a text in Prometheus's format, read by Prometheus's client."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def value(snapshot: Snapshot, name: str, **labels: str) -> float | None:
    return samples(exposed(snapshot)).get((name, frozenset(labels.items())))


def by_prometheus(bounds: tuple[float, ...], values: list[float]) -> bytes:
    """The text that Prometheus's own histogram and counter give."""
    registry = prometheus_client.CollectorRegistry()
    theirs = prometheus_client.Histogram(
        "seconds", "Time.", ["route"], buckets=bounds, registry=registry
    )
    count = prometheus_client.Counter("requests", "Asked.", ["route"], registry=registry)
    for one in values:
        theirs.labels('a"\\\n').observe(one)
        count.labels("b").inc()
    return prometheus_client.generate_latest(registry)


@ON_A_BUSY_MACHINE
@given(st.sampled_from(BOUNDS), st.lists(OBSERVED, min_size=1))
def test_a_histogram_shows_what_that_of_prometheus_shows(
    bounds: tuple[float, ...], values: list[float]
) -> None:
    ours = histogram("seconds", "Time.", ("route",), bounds)
    count = counter("requests", "Asked.", ("route",))
    for one in values:
        ours.labels('a"\\\n').observe(one)
        count.labels("b").inc()
    expected = by_prometheus(bounds, values)
    found = exposed((ours.snapshot(), count.snapshot()))
    created = ("seconds_created", "requests_created")  # when a series began: we do not tell
    assert samples(found) == {k: v for k, v in samples(expected).items() if k[0] not in created}
    described = [line for line in expected.splitlines() if line[:1] == b"#"]
    assert [line for line in found.splitlines() if line[:1] == b"#"] == [
        line for line in described if b"_created" not in line
    ]


def test_a_value_equal_to_a_bound_lies_below_it_and_one_beyond_all_is_counted_too() -> None:
    ours = histogram("seconds", "Time.", (), (1, 2))
    for one in (1, 1.5, 2, 2.5):
        ours.labels().observe(one)
    found = (ours.snapshot(),)
    assert [value(found, "seconds_bucket", le=le) for le in ("1.0", "2.0", "+Inf")] == [1, 3, 4]
    assert (value(found, "seconds_count"), value(found, "seconds_sum")) == (4, 7)


EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.integers(0, 200), st.booleans()),
    max_size=60,
)


def observe(telemetry: Telemetry, event: tuple[int, str, int, bool]) -> None:
    _, model, number, is_rejected = event
    telemetry.labels_per_document.labels(model).observe(number)
    telemetry.documents.labels(model, "/predict").inc(number)
    telemetry.durations.labels("POST", "/predict", 200).observe(number / 64)
    if is_rejected:
        telemetry.rejected.labels(model).inc()


@ON_A_BUSY_MACHINE
@given(EVENTS)
def test_the_sum_of_several_processes_is_one_that_saw_everything(
    events: list[tuple[int, str, int, bool]],
) -> None:
    processes, alone = [Telemetry() for _ in range(3)], Telemetry()
    for event in events:
        observe(processes[event[0]], event)
        observe(alone, event)
    sent = [decode(encode(one.snapshot())) for one in processes]
    assert samples(exposed(merged(sent))) == samples(exposed(alone.snapshot()))


def test_gauges_of_the_living_are_summed_or_their_largest_is_shown() -> None:
    processes = [Telemetry() for _ in range(3)]
    for number, one in enumerate(processes):
        one.requests_now = number + 1
        one.show_models([("demo", "1" if number else "2")])
    found = merged(one.snapshot() for one in processes)
    assert value(found, "labelserve_in_flight", route="all") == 6
    for version in ("1", "2"):
        assert value(found, "labelserve_model_info", model="demo", version=version) == 1
    assert not [family for family in without_gauges(found) if family.kind == "gauge"]


def test_a_version_that_is_gone_is_shown_no_longer() -> None:
    telemetry = Telemetry()
    telemetry.show_models([("demo", "1")])
    telemetry.show_models([("demo", "2")])
    found = telemetry.snapshot()
    assert value(found, "labelserve_model_info", model="demo", version="1") is None
    assert value(found, "labelserve_model_info", model="demo", version="2") == 1


def test_label_values_that_do_not_fit_the_names_are_refused() -> None:
    with pytest.raises(ValueError, match="labelserve_documents"):
        Telemetry().documents.labels("demo")


class Fleet:
    """Workers of this process, each with its end of a pipe, and the supervisor's sum."""

    def __init__(self) -> None:
        self.aggregator = SnapshotAggregator(Telemetry().snapshot)
        self.pipes: list[Connection] = []
        self.threads: dict[int, threading.Thread] = {}

    def worker(self, place: int) -> Telemetry:
        ours, theirs = Pipe()
        self.threads[place] = self.aggregator.follow(place, ours)
        self.pipes.append(theirs)
        telemetry = Telemetry()
        telemetry.share(theirs)
        return telemetry


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    monkeypatch.setattr(exchange, "SEND_SECONDS", 0.02)
    found = Fleet()
    yield found
    for pipe in found.pipes:
        pipe.close()


def documents(snapshot: Snapshot) -> float | None:
    return value(snapshot, "labelserve_documents_total", model="demo", route="/predict")


def test_every_worker_tells_the_figures_of_all_and_the_supervisor_does(fleet: Fleet) -> None:
    one, other = fleet.worker(0), fleet.worker(1)
    one.documents.labels("demo", "/predict").inc(2)
    asyncio.run(one.total())
    other.documents.labels("demo", "/predict").inc(3)
    assert documents(asyncio.run(other.total())) == 5
    assert documents(asyncio.run(one.total())) == 5
    assert documents(fleet.aggregator.total()) == 5


def test_figures_reach_the_supervisor_though_nobody_asks(fleet: Fleet) -> None:
    fleet.worker(0).documents.labels("demo", "/predict").inc(2)
    end = monotonic() + 30
    while documents(fleet.aggregator.total()) != 2:
        assert monotonic() < end
        sleep(0.01)


def test_what_a_worker_counted_stays_when_it_is_replaced_and_its_gauges_go(fleet: Fleet) -> None:
    first = fleet.worker(0)
    first.documents.labels("demo", "/predict").inc(2)
    first.stages.labels("score").observe(0.1)
    first.show_models([("demo", "1")])
    first.requests_now = 7
    asyncio.run(first.total())
    assert value(fleet.aggregator.total(), "labelserve_in_flight", route="all") == 7
    fleet.pipes[0].close()
    fleet.threads[0].join(30)
    found = fleet.aggregator.total()
    assert documents(found) == 2
    assert value(found, "labelserve_stage_seconds_count", stage="score") == 1
    assert value(found, "labelserve_in_flight", route="all") == 0
    assert value(found, "labelserve_model_info", model="demo", version="1") is None
    second = fleet.worker(0)
    second.documents.labels("demo", "/predict").inc(3)
    assert documents(asyncio.run(second.total())) == 5


@ON_A_BUSY_MACHINE
@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 10), st.booleans()), max_size=40))
def test_not_even_rounding_lets_a_sum_fall_when_workers_are_replaced(
    events: list[tuple[int, float, bool]],
) -> None:
    aggregator = SnapshotAggregator(Telemetry().snapshot)
    processes, before = [Telemetry() for _ in range(3)], 0.0
    for place, seconds, ends in events:
        processes[place].stages.labels("score").observe(seconds)
        aggregator._live[place] = processes[place].snapshot()
        if ends:
            aggregator._end(place)
            processes[place] = Telemetry()
        found = value(aggregator.total(), "labelserve_stage_seconds_sum", stage="score")
        assert found is not None
        assert found >= before
        before = found


def test_a_supervisor_that_does_not_answer_leaves_the_last_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "ANSWER_SECONDS", 0.05)
    ours, theirs = Pipe()
    telemetry = Telemetry()
    telemetry.share(theirs)
    telemetry.documents.labels("demo", "/predict").inc(2)
    assert documents(asyncio.run(telemetry.total())) == 2  # its own: it has heard of no others
    ours.close()
    telemetry.documents.labels("demo", "/predict").inc(1)
    assert documents(asyncio.run(telemetry.total())) == 3
    theirs.close()


def test_a_worker_that_is_stopped_keeps_nobody_else_waiting(fleet: Fleet) -> None:
    """It has asked for more answers than a pipe holds, and reads none of them."""
    ours, theirs = Pipe()
    fleet.aggregator.follow(0, ours)
    fleet.pipes.append(theirs)
    loud = Telemetry()
    for number in range(5000):
        loud.rejected.labels(f"{number:0100}").inc()
    theirs.send_bytes(
        msgspec.msgpack.encode(WorkerFigures(loud.snapshot(), wants_total=True, loop_turns=1))
    )
    one = fleet.worker(1)
    one.documents.labels("demo", "/predict").inc(2)
    assert documents(asyncio.run(one.total())) == 2


def test_a_loop_that_is_held_up_shows_by_how_much() -> None:
    telemetry = Telemetry()

    async def held_up() -> None:
        telemetry.loop.start()
        await asyncio.sleep(0.3)
        sleep(0.6)
        await asyncio.sleep(0.2)
        telemetry.loop.stop()
        turns = telemetry.loop.turns
        await asyncio.sleep(0.3)
        assert telemetry.loop.turns == turns > 1

    asyncio.run(held_up())
    name = "labelserve_loop_lag_seconds"
    count = value(telemetry.snapshot(), f"{name}_count")
    late = value(telemetry.snapshot(), f"{name}_bucket", le="0.25")
    assert count == telemetry.loop.turns
    assert late is not None
    assert late < count
