"""Models in the long runs: swapped under load (R10), damaged in every way (R11)."""

import asyncio
import json
import shutil
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.harness.processes import free_ports
from bench.harness.server_process import replica
from soak.client import Answer, Client, prediction, request
from soak.damages import DAMAGES, copy_of
from soak.demo import TEXT, versions
from soak.findings import Findings
from soak.running_replica import RunningReplica, running_replica

from app.artifacts.store import Store

ASKED = prediction([TEXT], top_k=3)
CLIENTS = 8


def swaps(models: Path, folder: Path, quick: bool) -> Findings:
    """R10: a hundred swaps while clients compare every answer with that of its version."""
    found = Findings()
    with running_replica(models, folder, LABELSERVE_POLL_SECONDS="0.1") as running:
        asyncio.run(_swaps(running, 10 if quick else 100, found))
    return found


async def _swaps(running: RunningReplica, count: int, found: Findings) -> None:
    client, known, done = Client(running.port), versions(running.models), asyncio.Event()
    expected = {version: await _promoted(client, running, version) for version in known * 2}
    before = running.memory()
    loads = [asyncio.create_task(client.repeated(ASKED, done, 0.002)) for _ in range(CLIENTS)]
    for number in range(count):
        await _promoted(client, running, known[number % 2])
    done.set()
    answers = [answer for each in await asyncio.gather(*loads) for answer in each]
    failed = sum(answer.status != 200 for answer in answers)
    wrong = sum(not _is_right(answer, expected) for answer in answers) - failed
    found.note(f"{count} swaps, {len(answers)} answers, {failed} failed", not failed)
    found.note(
        f"{wrong} wrong for the version they name", not wrong and len({*expected.values()}) == 2
    )
    mapped, grown = running.mapped_versions(), running.memory() - before
    found.note(f"versions mapped afterwards: {len(mapped)}", mapped == {known[(count - 1) % 2]})
    found.note(f"memory {before:.0f} MB, {grown:+.1f} MB afterwards", grown <= 0.05 * before)
    client.close()


async def _promoted(client: Client, running: RunningReplica, version: str) -> str:
    """Make a version current and wait until it answers; what it answers."""
    Store(running.models).promote("demo", version)
    while (answer := (await client.send(ASKED)).json())["version"] != version:
        await asyncio.sleep(0.02)
    return json.dumps(answer["predictions"])


def _is_right(answer: Answer, expected: dict[str, str]) -> bool:
    if answer.status != 200:
        return False
    told = answer.json()
    return json.dumps(told["predictions"]) == expected[told["version"]]


def damages(models: Path, folder: Path, quick: bool) -> Findings:
    """R11: every kind of damage to a version, beside a good one and at a first start."""
    found, own = Findings(), folder / "damaged"
    good = versions(models)[-1]
    shutil.copytree(models / "demo" / good, own / "demo" / good)
    Store(own).promote("demo", good)
    with running_replica(own, folder, LABELSERVE_POLL_SECONDS="0.1") as running:
        asyncio.run(_beside(running, good, found))
    shutil.rmtree(own)
    asyncio.run(_at_first_start(models / "demo" / good, folder, found))
    return found


async def _beside(running: RunningReplica, good: str, found: Findings) -> None:
    client, demo, slowest, refused = Client(running.port), running.models / "demo", 0.0, 0
    for number, damage in enumerate(DAMAGES):
        bad = f"{good[:-6]}{number:06x}"
        copy_of(demo / good, demo / bad)
        damage(demo / bad)
        (demo / "current").write_text(bad)
        start, failed = perf_counter(), None
        while failed is None and perf_counter() - start < 10:
            told = (await client.send(request("/models"))).json()["models"][0]
            failed = told.get("failed") if told.get("failed", {}).get("version") == bad else None
            await asyncio.sleep(0.01)
        slowest = max(slowest, perf_counter() - start)
        answer, ready = await client.send(ASKED), await client.send(request("/health/ready"))
        is_right = answer.status == 200 and answer.json()["version"] == good
        refused += failed is not None and is_right and ready.status == 200
    found.note(
        f"{refused} of {len(DAMAGES)} refused, the old model answering and ready throughout",
        refused == len(DAMAGES),
    )
    found.note(f"the slowest was refused after {slowest:.2f} s", slowest <= 2)
    client.close()


async def _at_first_start(good: Path, folder: Path, found: Findings) -> None:
    """All of them, each a model of its own, in the folder of a service that starts."""
    models = folder / "first"
    for number, damage in enumerate(DAMAGES):
        home = models / f"model-{number}"
        home.mkdir(parents=True)
        copy_of(good, home / good.name)
        damage(home / good.name)
        (home / "current").write_text(good.name)
    (port,) = free_ports(1)
    process = replica(models, port, folder)
    process.start()
    try:
        told = await _first_words(Client(process.port), len(DAMAGES))
    finally:
        process.end()
    reasons = {model["failed"]["reason"].partition(": ")[2] for model in told["models"]}
    found.note(
        f"at a first start: {told['status']} for readiness, {len(told['models'])} refused "
        "each with its reason",
        told["status"] == 503 and len(told["models"]) == len(DAMAGES) and "" not in reasons,
    )


async def _first_words(client: Client, count: int) -> dict[str, Any]:
    """What the service says of itself once it has looked at all models."""
    end = perf_counter() + 60
    while perf_counter() < end:
        answer = await client.send(request("/models"))
        failed = answer.json()["models"] if answer.status == 200 else []
        if sum("failed" in model for model in failed) == count:
            ready = await client.send(request("/health/ready"))
            return {"models": failed, "status": ready.status}
        await asyncio.sleep(0.1)
    raise TimeoutError("the models were not looked at")
