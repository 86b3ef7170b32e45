"""Rolling restarts (R1) and killed replicas (R3) behind a real nginx, under load."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess, replica
from soak.demo import TEXT
from soak.findings import Findings
from soak.gateway import Load, nginx, restart_one_by_one

CLIENTS, PAUSE = 16, 0.05
LEAST_REQUESTS = 20_000
READY_SECONDS = 10.0
BODY = {"documents": [TEXT], "top_k": 5}


def rolling_restarts(models: Path, folder: Path, quick: bool) -> Findings:
    """R1: restart both replicas one after the other, until enough was asked."""
    found, rounds = Findings(), 0
    wanted, least = (2, 0) if quick else (20, LEAST_REQUESTS)
    with _loaded(models, folder) as (replicas, load):
        while rounds < wanted or load.sent < least:
            restart_one_by_one(replicas)
            rounds += 1
    found.note(f"{rounds} restarts of both, {load.sent} requests", load.sent >= least)
    found.note(f"{len(load.failures)} failed {_examples(load)}".strip(), not load.failures)
    return found


def kills(models: Path, folder: Path, quick: bool) -> Findings:
    """R3: kill the replicas in turn; each must be ready again before the next is killed."""
    found, times, count = Findings(), [], 2 if quick else 10
    with _loaded(models, folder) as (replicas, load):
        for number in range(count):
            victim = replicas[number % len(replicas)]
            time.sleep(0.5)
            victim.send(signal.SIGKILL)
            victim.start()
            times.append(victim.wait_until_ready())
    most = count * CLIENTS  # a client has one request in hand at a time
    found.note(f"{count} kills, {load.sent} requests")
    found.note(f"{len(load.failures)} failed {_examples(load)}".strip(), len(load.failures) <= most)
    found.note(f"ready again after {max(times):.1f} s at most", max(times) <= READY_SECONDS)
    return found


def _examples(load: Load) -> str:
    return f"({'; '.join(sorted(set(load.failures))[:2])})" if load.failures else ""


@contextmanager
def _loaded(models: Path, folder: Path) -> Iterator[tuple[list[ServerProcess], Load]]:
    """Two replicas behind the gateway, and the clients that ask it as long as the block lasts."""
    port, *inside = free_ports(3)
    replicas = [replica(models, number, folder) for number in inside]
    proxy = nginx(port, inside, folder)
    try:
        for process in [*replicas, proxy]:
            process.start()
        for process in [*replicas, proxy]:
            process.wait_until_ready()
        with Load(port, BODY, CLIENTS, PAUSE).running() as load:
            yield replicas, load
    finally:
        for process in [proxy, *replicas]:
            process.end()
