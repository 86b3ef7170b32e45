"""What operators do to a running service: a models folder lost (R26), keys revoked (R28), logs
that nobody reads (R29)."""

import asyncio
import os
import resource
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import perf_counter

from bench.harness.processes import free_ports
from bench.harness.server_process import replica
from soak.client import NDJSON, Answer, Client, Connection, head, prediction, read_answer, request
from soak.demo import TEXT, labelled, versions
from soak.findings import Findings
from soak.running_replica import RunningReplica, running_replica

from app.artifacts.store import Store
from app.serving.keys import KeysFile
from app.serving.service import LONGEST_BACK_OFF

ASKED = prediction([TEXT], top_k=3)
CLIENTS = 8
SLOW = "/evaluate?bootstrap=10000"
REVOKED_SECONDS, HEALTH_SECONDS = 5.0, 1.0
FAILED_LOOKS = "labelserve_models_folder_failures_total"
LOOK_SECONDS = LONGEST_BACK_OFF + 1
Loss = Callable[[RunningReplica], AbstractContextManager[None]]
DROPPED = "labelserve_log_lines_dropped_total"


def lost_models_folder(models: Path, folder: Path, quick: bool) -> Findings:
    """R26: the folder is renamed, emptied and cannot be opened, again and again, under load."""
    found, own = Findings(), folder / "lost"
    shutil.copytree(models, own)
    with running_replica(own, folder, LABELSERVE_POLL_SECONDS="0.1") as running:
        asyncio.run(_lose_folder(running, 1 if quick else 6, found))
    shutil.rmtree(own)
    return found


async def _lose_folder(running: RunningReplica, rounds: int, found: Findings) -> None:
    async with _under_load(running.port) as answers:
        for _ in range(rounds):
            for loss in (_renamed, _emptied, _without_descriptors):
                seen = await asyncio.to_thread(running.figure, FAILED_LOOKS)
                with loss(running):
                    await _look(running, loss, seen)
                await asyncio.sleep(0.5)
    failed = sum(answer.status != 200 for answer in answers)
    found.note(f"{3 * rounds} losses, {len(answers)} answers, {failed} failed", not failed)
    looks = running.figure(FAILED_LOOKS)
    found.note(f"{looks:.0f} failed looks counted", looks >= 3 * rounds)
    found.note(f"a new version answers {await _swapped(running):.1f} s after it was promoted")


async def _look(running: RunningReplica, loss: Loss, seen: float) -> None:
    """Wait for the next look, which may come after the longest back-off."""
    if loss is _without_descriptors:  # a connection that asks could not be accepted, either
        await asyncio.sleep(LOOK_SECONDS)
        return
    end = perf_counter() + LOOK_SECONDS
    while perf_counter() < end:
        if await asyncio.to_thread(running.figure, FAILED_LOOKS) > seen:
            return
        await asyncio.sleep(0.2)


async def _swapped(running: RunningReplica) -> float:
    client, start = Client(running.port), perf_counter()
    before = (await client.send(ASKED)).json()["version"]
    (other,) = [version for version in versions(running.models) if version != before]
    Store(running.models).promote("demo", other)
    while (await client.send(ASKED)).json()["version"] != other:
        await asyncio.sleep(0.05)
    client.close()
    return perf_counter() - start


@contextmanager
def _renamed(running: RunningReplica) -> Iterator[None]:
    away = running.models.rename(running.models.with_name("away"))
    yield
    away.rename(running.models)


@contextmanager
def _emptied(running: RunningReplica) -> Iterator[None]:
    """As a file system that is not mounted."""
    away = running.models.rename(running.models.with_name("away"))
    running.models.mkdir()
    yield
    running.models.rmdir()
    away.rename(running.models)


@contextmanager
def _without_descriptors(running: RunningReplica) -> Iterator[None]:
    before = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    yield
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, before)


def revoked_keys(models: Path, folder: Path, quick: bool) -> Findings:
    """R28: a stream, an upload and an evaluation, whose key is revoked under way."""
    found, file = Findings(), folder / "soak-keys.json"
    keys, body = KeysFile(file), labelled(20_000_000, folder)
    keys.create(["predict"])
    settings = {"LABELSERVE_API_KEYS_FILE": str(file), "LABELSERVE_WORKERS": "2"}
    with running_replica(models, folder, **settings) as running:
        times = [asyncio.run(_revoked(running, keys, body)) for _ in range(1 if quick else 5)]
    for name in ("stream", "upload", "evaluation"):
        first, last = (end(time[name] for time in times) for end in (min, max))
        said = f"{name} ended after {last:.1f} s at most"
        found.note(said, 0 < first <= last <= REVOKED_SECONDS)
    return found


async def _revoked(running: RunningReplica, keys: KeysFile, body: bytes) -> dict[str, float]:
    """Seconds from the revocation to the end of each."""
    key, secret = keys.create(["predict", "evaluate"])
    await asyncio.sleep(1.5)  # until every worker has read it
    client, sent = Client(running.port), f"Authorization: Bearer {secret}"
    chunked, length = "Transfer-Encoding: chunked", f"Content-Length: {len(body)}"
    connections = {name: await client.open() for name in ("stream", "upload", "evaluation")}
    ends = [
        _ended_stream(connections["stream"], head("/predict", NDJSON, chunked, sent)),
        _ended_stream(connections["upload"], head("/evaluate", NDJSON, chunked, sent)),
        _ended(connections["evaluation"]),
    ]
    connections["evaluation"][1].write(head(SLOW, NDJSON, length, sent) + body)
    tasks = [asyncio.create_task(end) for end in ends]
    await asyncio.sleep(1.0)
    start = perf_counter()
    keys.revoke(key.id)
    at = await asyncio.gather(*tasks)
    return dict(zip(connections, (end - start for end in at), strict=True))


async def _ended_stream(connection: Connection, start: bytes) -> float:
    """Send a line now and then; the moment at which the service refuses it or hangs up."""
    connection[1].write(start)
    ended = asyncio.create_task(_ended(connection))
    line = b'{"text": "the invoice was charged twice", "labels": ["billing"]}\n'
    while not ended.done():
        connection[1].write(b"%x\r\n%b\r\n" % (len(line), line))
        await asyncio.sleep(0.05)
    return await ended


async def _ended(connection: Connection) -> float:
    """The moment at which an answer has come as a whole, or the connection has ended."""
    with suppress(OSError, EOFError, ValueError):
        await read_answer(connection[0], perf_counter())
    connection[1].close()
    return perf_counter()


def unread_logs(models: Path, folder: Path, quick: bool) -> Findings:
    """R29: standard output and error are a pipe that is full, for one worker and for two."""
    found, seconds = Findings(), 3.0 if quick else 20.0
    for workers in (1, 2):
        with _never_read(models, folder, workers) as running:
            asyncio.run(_unread(running, seconds, workers, found))
    return found


async def _unread(running: RunningReplica, seconds: float, workers: int, found: Findings) -> None:
    client = Client(running.port)
    async with _under_load(running.port, pause=0.0) as answers:
        health = await client.paced(request("/health/live"), 20, seconds)
    client.close()
    failed = sum(answer.status != 200 for answer in [*answers, *health])
    slowest, dropped = max(answer.seconds for answer in health), running.figure(DROPPED)
    said = f"{workers} worker{'s' * (workers > 1)}: {len(answers)} answers, {failed} failed"
    found.note(said, not failed)
    found.note(f"health after {slowest * 1e3:.0f} ms at most", slowest <= HEALTH_SECONDS)
    found.note(f"{dropped:.0f} lines dropped", dropped > 0)


@contextmanager
def _never_read(models: Path, folder: Path, workers: int) -> Iterator[RunningReplica]:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"\n")
    except BlockingIOError:
        os.set_blocking(writing, True)
    port, figures = free_ports(2)
    process = replica(
        models,
        port,
        folder,
        LABELSERVE_METRICS_PORT=str(figures),
        LABELSERVE_WORKERS=str(workers),
    )
    process.options |= {"stdout": writing, "stderr": writing}
    try:
        process.start()
        process.wait_until_ready()
        yield RunningReplica(process, models, folder / f"var-{port}", figures)
    finally:
        process.end()
        os.close(writing)
        os.close(reading)


@asynccontextmanager
async def _under_load(port: int, pause: float = 0.005) -> AsyncIterator[list[Answer]]:
    """Clients that predict while the block runs; their answers are there when it has ended."""
    client, done, answers = Client(port), asyncio.Event(), list[Answer]()
    loads = [asyncio.create_task(client.repeated(ASKED, done, pause)) for _ in range(CLIENTS)]
    try:
        yield answers
    finally:
        done.set()
        for each in await asyncio.gather(*loads):
            answers += each
        client.close()
