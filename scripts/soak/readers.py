"""Clients in the long runs that ask for large answers and never read them (R25)."""

import asyncio
import socket
from pathlib import Path
from time import perf_counter

from soak.client import Client, p99, prediction, request
from soak.findings import Findings
from soak.largest_answers import MANY, infer, lines
from soak.running_replica import MEBIBYTE, RunningReplica, running_replica
from soak.wide_model import N_LABELS, store_wide

PATIENCE = 10.0
UNSENT = 128
"""MB of answers that may wait to be read."""
MAKING = 400
"""MB that answers may take while they are made: predictions as objects, two threads of them."""


def unread_answers(models: Path, folder: Path, quick: bool) -> Findings:
    """R25: connections that ask for 37 MB each, by every route, and never read."""
    found, count = Findings(), 20 if quick else 200
    store_wide(folder / "wide")
    settings = {
        "LABELSERVE_REQUEST_SECONDS": str(PATIENCE),
        "LABELSERVE_MAX_UNSENT_BYTES": str(UNSENT * MEBIBYTE),
    }
    with running_replica(folder / "wide", folder, **settings) as running:
        asyncio.run(_leave_unread(running, count, found))
    return found


async def _leave_unread(running: RunningReplica, count: int, found: Findings) -> None:
    client, done = Client(running.port), asyncio.Event()
    large = [prediction(["refund"] * MANY, top_k=N_LABELS), infer(MANY), lines(MANY)]
    for content in large:
        await client.send(content)
    before, start = running.memory(), perf_counter()
    beside = asyncio.create_task(client.repeated(request("/health/live"), done, 0.01))
    most = asyncio.create_task(_most_memory(running, done))
    silent = [_silent(running.port, large[number % len(large)]) for number in range(count)]
    last = perf_counter()
    while running.figure("labelserve_in_flight") > 1:
        await asyncio.sleep(0.2)
    seconds = perf_counter() - last
    done.set()
    answers, peak = await beside, await most - before
    for connection in silent:
        connection.close()
    cut = running.figure('labelserve_rejected_total{reason="unread"}')
    found.note(f"{count} connections, {cut:.0f} cut, the rest refused", cut > 0)
    found.note(f"none left after {seconds:.0f} s", seconds <= count * 0.5 + 3 * PATIENCE)
    found.note(f"memory +{peak:.0f} MB at most", peak <= UNSENT + MAKING)
    failed = sum(answer.status != 200 for answer in answers)
    live = f"{len(answers)} × /health/live, {failed} failed, p99 {p99(answers) * 1e3:.0f} ms"
    found.note(live, not failed)
    after = running.memory() - before
    found.note(f"+{after:.0f} MB afterwards ({perf_counter() - start:.0f} s)", after <= UNSENT)
    client.close()


def _silent(port: int, content: bytes) -> socket.socket:
    """A connection that has asked and takes nothing by itself."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.sendall(content)
    return connection


async def _most_memory(running: RunningReplica, done: asyncio.Event) -> float:
    most = running.memory()
    while not done.is_set():
        await asyncio.sleep(0.05)
        most = max(most, running.memory())
    return most
