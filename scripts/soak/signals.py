"""Signals in the long runs (R27): to all processes, twice, to the supervisor, to one worker."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness.processes import family, free_ports
from bench.harness.server_process import ServerProcess, replica
from soak.client import LOST, Answer, Client, prediction
from soak.demo import TEXT
from soak.findings import Findings

DRAIN_SECONDS, STALL_SECONDS = 3.0, 5.0
SETTLE_SECONDS = 3.0  # until every worker has shown that it lives: before, it has longer
END_SECONDS = DRAIN_SECONDS + 4.0 + 2.0
"""The drain, the grace time after it, and the end of the processes."""


def signals(models: Path, folder: Path, quick: bool) -> Findings:
    """R27: each of the four, under load, several times."""
    found, rounds = Findings(), 1 if quick else 5
    drains = [_drained(models, folder) for _ in range(rounds)]
    lost, asked = sum(lost for lost, _, _ in drains), sum(asked for _, asked, _ in drains)
    shortest = min(seconds for _, _, seconds in drains)
    found.note(f"SIGTERM twice to all processes × {rounds}: {lost} of {asked} lost", not lost)
    found.note(f"drained for {shortest:.1f} s or longer", shortest >= DRAIN_SECONDS)
    slowest = max(_orphaned(models, folder) for _ in range(rounds))
    found.note(f"SIGKILL of the supervisor: port free after {slowest:.1f} s", slowest <= 10)
    slowest = max(_replaced(models, folder) for _ in range(rounds))
    found.note(f"SIGSTOP: replaced after {slowest:.1f} s", slowest <= STALL_SECONDS + 5)
    return found


@contextmanager
def _workers(models: Path, folder: Path) -> Iterator[ServerProcess]:
    (port,) = free_ports(1)
    settings = {
        "LABELSERVE_WORKERS": "2",
        "LABELSERVE_DRAIN_SECONDS": str(DRAIN_SECONDS),
        "LABELSERVE_STALL_SECONDS": str(STALL_SECONDS),
    }
    process = replica(models, port, folder, **settings)
    process.start()
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.end()


def _drained(models: Path, folder: Path) -> tuple[int, int, float]:
    """Requests lost while it drained, all that were sent, and the seconds until its end."""
    with _workers(models, folder) as process:
        everybody = family(process.pid)
        answers = asyncio.run(_load_and_end(process.port, everybody))
        start = time.monotonic() - (DRAIN_SECONDS - 0.5)
        code = process.running.wait(END_SECONDS + 10) if process.running is not None else 1
        if code:
            raise RuntimeError(f"it ended with exit code {code}")
        lost = sum(answer.status == LOST or answer.status >= 500 for answer in answers)
        return lost, len(answers), time.monotonic() - start


async def _load_and_end(port: int, everybody: list[int]) -> list[Answer]:
    """What clients were answered until shortly before the drain ends."""
    client, done = Client(port), asyncio.Event()
    asking = [client.repeated(prediction([TEXT]), done, 0.01) for _ in range(4)]
    answers = asyncio.gather(*asking)
    await asyncio.sleep(0.5)
    for _ in range(2):
        for pid in everybody:
            os.kill(pid, signal.SIGTERM)
        await asyncio.sleep(0.2)
    await asyncio.sleep(DRAIN_SECONDS - 0.9)
    done.set()
    found = [answer for each in await answers for answer in each]
    client.close()
    return found


def _orphaned(models: Path, folder: Path) -> float:
    """Seconds from the supervisor's SIGKILL until nobody listens on its port any more."""
    with _workers(models, folder) as process:
        process.send(signal.SIGKILL)
        start = time.monotonic()
        while not _is_free(process.port):
            if time.monotonic() - start > 60:
                raise TimeoutError("workers still listen a minute after their supervisor's end")
            time.sleep(0.1)
        return time.monotonic() - start


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _replaced(models: Path, folder: Path) -> float:
    """Seconds from a worker's SIGSTOP until it is gone and another is there."""
    with _workers(models, folder) as process:
        time.sleep(SETTLE_SECONDS)
        workers = _serving(process.pid)
        os.kill(workers[0], signal.SIGSTOP)
        start = time.monotonic()
        while workers[0] in (now := _serving(process.pid)) or len(now) < len(workers):
            if time.monotonic() - start > 60:
                os.kill(workers[0], signal.SIGKILL)
                raise TimeoutError("a stopped worker was not replaced within a minute")
            time.sleep(0.1)
        return time.monotonic() - start


def _serving(pid: int) -> list[int]:
    """The worker processes of a supervisor."""
    others = family(pid)[1:]
    return [one for one in others if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
