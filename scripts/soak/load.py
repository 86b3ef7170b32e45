"""Load in the long runs: too much (R9), from slow clients (R16), for long (R18)."""

import asyncio
import statistics
from pathlib import Path
from time import perf_counter

from soak.client import (
    LOST,
    NDJSON,
    Answer,
    Client,
    Connection,
    head,
    p99,
    prediction,
    request,
)
from soak.demo import TEXT, labelled, versions
from soak.findings import Findings
from soak.running_replica import MEBIBYTE, RunningReplica, running_replica

from app.artifacts.store import Store

BATCH = prediction([TEXT] * 1000)
SLOW = 200
SECONDS = 15.0
"""The time limit of a request in R16."""


def overload(models: Path, folder: Path, quick: bool) -> Findings:
    """R9: four times the load that it can take, in requests of 1000 documents, twice.

    Clients that know nothing of each other often come together, even at 80 % load; evenly spaced
    ones never do, so that the bound for them is a tight one.
    """
    found = Findings()
    for evenly in (False, True):
        with running_replica(models, folder) as running:
            asyncio.run(_overload(Client(running.port), 30.0 if quick else 60.0, evenly, found))
    return found


async def _overload(client: Client, seconds: float, evenly: bool, found: Findings) -> None:
    capacity = await client.rate(BATCH, 2, 5.0)
    calm = await client.paced(BATCH, 0.8 * capacity, seconds / 2, evenly=evenly)
    done = asyncio.Event()
    health = [
        asyncio.create_task(client.repeated(request(f"/health/{kind}"), done, 0.1))
        for kind in ("live", "ready")
    ]
    answers = await client.paced(BATCH, 4 * capacity, seconds, evenly=evenly)
    done.set()
    recovered = await _recovered(client)
    _judge(answers, calm, "evenly spaced" if evenly else "independent clients", found)
    asked = [answer for each in await asyncio.gather(*health) for answer in each]
    bad = sum(answer.status != 200 for answer in asked)
    found.note(f"{len(asked)} health probes, {bad} not 200, p99 {p99(asked) * 1e3:.0f} ms", not bad)
    found.note(f"accepted again after {recovered:.2f} s", recovered <= 2)
    client.close()


def _judge(answers: list[Answer], calm: list[Answer], who: str, found: Findings) -> None:
    accepted = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    usual = [answer for answer in calm if answer.status == 200]
    found.note(f"{who}: at 80 % load {len(calm)} requests, {len(calm) - len(usual)} refused")
    others = len(answers) - len(accepted) - len(refused)
    worst, slowest, before = p99(accepted), p99(refused), p99(usual)
    found.note(f"{len(answers)} requests, {others} neither 200 nor 429", not others)
    found.note(
        f"{len(accepted)} accepted, p99 {worst * 1e3:.0f} ms ({before * 1e3:.0f} ms at 80 % load)",
        worst <= 2 * before,
    )
    told = all(int(answer.headers.get("retry-after", 0)) >= 1 for answer in refused)
    found.note(
        f"{len(refused)} refused with Retry-After, p99 {slowest * 1e3:.0f} ms",
        told and slowest <= 0.05,
    )


async def _recovered(client: Client) -> float:
    start = perf_counter()
    while (await client.send(BATCH)).status != 200:
        await asyncio.sleep(0.02)
    return perf_counter() - start


def slow_clients(models: Path, folder: Path, quick: bool) -> Findings:
    """R16: 200 connections that send a byte a second, in heads and in bodies of every route."""
    found, limit = Findings(), 5.0 if quick else SECONDS
    settings = {"LABELSERVE_REQUEST_SECONDS": str(limit)}
    with running_replica(models, folder, **settings) as running:
        asyncio.run(_slow(Client(running.port), limit, found))
        traces = running.log.count("Traceback")
        found.note(f"{traces} tracebacks", not traces)
    return found


async def _slow(client: Client, limit: float, found: Findings) -> None:
    alone = p99(await client.paced(prediction([TEXT]), 100, limit))
    connections = [await client.open() for _ in range(SLOW)]
    start = perf_counter()
    held = [asyncio.create_task(_dribble(c, number)) for number, c in enumerate(connections)]
    beside = await client.paced(prediction([TEXT]), 100, limit - 1)
    failed, slower = sum(answer.status != 200 for answer in beside), p99(beside)
    found.note(f"{len(beside)} predictions beside {SLOW}, {failed} failed", not failed)
    found.note(f"p99 {slower * 1e3:.1f} ms ({alone * 1e3:.1f} ms alone)", slower <= 2 * alone)
    ends = await asyncio.wait_for(asyncio.gather(*held), 60 + limit)
    last = max(ends) - start
    found.note(f"the last was cut after {last:.1f} s of {limit:.0f} s", last <= limit + 4)
    client.close()


async def _dribble(connection: Connection, number: int) -> float:
    """Send a byte a second until the service gives up; when that was."""
    reader, writer = connection
    await asyncio.sleep(number / SLOW)  # not all in the same moment
    content = [
        head("/predict", "application/json")[:-2],
        head("/predict", "application/json", "Content-Length: 9999"),
        head("/predict", NDJSON, "Content-Length: 9999"),
        head("/evaluate", NDJSON, "Content-Length: 9999"),
        head("/predict", NDJSON, "Content-Length: 99999999"),
    ][number % 5]
    writer.write(content if number % 5 else content[:9])
    cut = asyncio.ensure_future(reader.read(1))
    while not (await asyncio.wait([cut], timeout=1.0))[0]:
        writer.write(b"x")
    writer.close()
    return perf_counter()


def half_load(models: Path, folder: Path, quick: bool) -> Findings:
    """R18: half of what it can take, with swaps and evaluations, for minutes."""
    found, minutes = Findings(), 0.5 if quick else 5.0
    settings = {"LABELSERVE_POLL_SECONDS": "0.5"}
    with running_replica(models, folder, **settings) as running:
        asyncio.run(_half_load(running, minutes, labelled(MEBIBYTE, folder), found))
    return found


async def _half_load(running: RunningReplica, minutes: float, data: bytes, found: Findings) -> None:
    client, done = Client(running.port), asyncio.Event()
    batch = prediction([TEXT] * 100)
    capacity = await client.rate(batch, 2, 5.0)
    others = asyncio.create_task(_busy(running, client, data, done))
    memory, answers = list[float](), list[Answer]()
    rounds = max(4, round(minutes * 12))
    for _ in range(rounds):
        answers += await client.paced(batch, capacity / 2, minutes * 60 / rounds)
        memory.append(running.memory())
    done.set()
    swaps, evaluations = await others
    bad = [one for one in answers + evaluations if one.status >= 500 or one.status == LOST]
    found.note(
        f"{minutes:g} min, {len(answers)} requests of 100 documents, {swaps} swaps, "
        f"{len(evaluations)} evaluations: {len(bad)} × 5xx or lost{_first(bad)}",
        not bad,
    )
    refused = sum(answer.status == 429 for answer in answers + evaluations)
    found.note(f"{refused} × 429")
    tenth = max(1, rounds // 10)
    middle = statistics.median(memory[rounds // 2 : rounds // 2 + tenth])
    end = statistics.median(memory[-tenth:])
    growth = (end / middle - 1) * 100
    found.note(
        f"memory {middle:.0f} MB at half time, {end:.0f} MB at the end ({growth:+.1f} %)",
        growth <= 5,
    )
    client.close()


def _first(bad: list[Answer]) -> str:
    return f" ({bad[0].status} {bad[0].body[:80]!r})" if bad else ""


async def _busy(
    running: RunningReplica, client: Client, data: bytes, done: asyncio.Event
) -> tuple[int, list[Answer]]:
    """Swap the model and evaluate it, again and again."""
    store, known, swaps, evaluations = Store(running.models), versions(running.models), 0, []
    while not done.is_set():
        swaps += 1
        store.promote("demo", known[swaps % 2])
        evaluations.append(await client.send(request("/evaluate", data, NDJSON)))
        await asyncio.sleep(2.0)
    return swaps, evaluations
