"""A connection to a cluster by its address: a scheduler's, or `local:N` for workers started here.

TLS, timeouts and all else are Dask's own configuration (`DASK_…`, ~/.config/dask).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from app.artifacts.folders import disk_errors, make_folder
from app.engines.dask_engine import RESUME, DaskEngine
from app.engines.encryption import check_encryption, unreached
from app.engines.start import local_workers
from app.engines.task_count import Idle, Pace, unheard, unseen
from app.engines.worker_check import check_workers

DEATHS = 3
"""Workers that a task may kill before it is given up, of workers started here."""
SETTINGS = {
    "distributed.scheduler.allowed-failures": DEATHS - 1,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.worker.preload": ["app.engines.interrupts"],
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Dask's configuration of workers started here. A death is blamed only on what was under way; and
three processes that look at themselves less often take 1 % of a core instead of 9."""
LOGGERS = ("distributed", "distributed.client")


@dataclass(frozen=True, slots=True)
class ClusterConnection:
    """An engine, and what to say about the cluster that it uses."""

    engine: DaskEngine
    n_workers: int
    n_threads: int
    dashboard: str | None
    """Its address; None where there is none, as without bokeh, which draws it."""

    @classmethod
    def of(cls, client: Client, engine: DaskEngine) -> "ClusterConnection":
        """A client and its engine."""
        about: dict[str, Any] = client.scheduler_info(n_workers=-1)
        threads = [worker["nthreads"] for worker in about["workers"].values()]
        has_dashboard = "dashboard" in about.get("services", {}) and find_spec("bokeh") is not None
        link = client.dashboard_link if has_dashboard else None
        return cls(engine, len(threads), sum(threads), link)


@contextmanager
def connected(
    address: str,
    folder: Path,
    again: str = RESUME,
    pace: Pace = unseen,
    idle: Idle = unheard,
) -> Iterator[ClusterConnection]:
    """The cluster at an address; workers that are started for it are gone afterwards.

    `again` says what to do after a failure, in the words of the command; `pace` is told how far
    tasks are, `idle` that they wait for a worker.
    """
    for name in LOGGERS:  # what went wrong is said once, by us
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _cluster(address, folder) as target, _client(target) as client:
        _make(folder)
        check_workers(client, folder)
        connection = ClusterConnection.of(client, DaskEngine(client, folder, again, (pace, idle)))
        try:
            yield connection
        finally:
            connection.engine.close()


@contextmanager
def _cluster(address: str, folder: Path) -> Iterator[Any]:
    """What a client connects to."""
    n_workers = local_workers(address)
    check_encryption(address)
    if n_workers is None:
        yield address
        return
    _make(folder)
    settings = {**SETTINGS, "temporary-directory": str(folder / "workers")}
    with dask.config.set(settings), _local_cluster(n_workers) as cluster:
        yield cluster


def _make(folder: Path) -> None:
    """The folder, which is not made for a scheduler that is not there."""
    with disk_errors(folder):
        make_folder(folder)


def _local_cluster(n_workers: int) -> LocalCluster:
    """Worker processes with one thread each, without a limit of memory, on the loopback address."""
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _client(target: Any) -> Iterator[Client]:
    try:
        client = Client(target, set_as_default=False)
    except (OSError, ValueError) as error:  # also what Dask says of certificates that do not fit
        raise unreached(str(target), error) from error
    with client:
        yield client
