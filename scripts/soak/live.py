"""A version tried on live traffic in the long runs (R36): as a shadow, then as a canary."""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from soak.client import JSON, Answer, Client, head, p99, request
from soak.demo import versions
from soak.findings import Findings
from soak.running_replica import RunningReplica, running_replica

from app.artifacts.store import Store
from app.artifacts.trials import VersionTrial
from app.model import load_model
from app.prediction import Query, plan_of

REQUESTS, RATE = 10_000, 400.0
SHADOW, CANARY = 0.1, 0.05
SLOWER = 1.2
STANDARD_ERRORS = 4
BLOCKS = 10
Block = tuple[list[Answer], float]
TICKS = os.sysconf("SC_CLK_TCK")


def trials(models: Path, folder: Path, quick: bool) -> Findings:
    """R36: 10,000 requests without a trial, with a shadow, with a canary beside it."""
    found, n = Findings(), 1000 if quick else REQUESTS
    lines = (folder / "demo" / "train.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines][:2000]
    with running_replica(models, folder, LABELSERVE_POLL_SECONDS="0.2") as running:
        asyncio.run(_trials(running, texts, n, found))
    return found


async def _trials(running: RunningReplica, texts: list[str], n: int, found: Findings) -> None:
    client, store = Client(running.port), Store(running.models)
    new, current = versions(running.models)
    store.promote("demo", current)
    await _asked(client, running, texts, n // 5)
    alone, beside, taken, dropped = [], [], 0, 0
    for _ in range(BLOCKS):  # in turn, as other work on the machine comes and goes
        alone.append(await _asked(client, running, texts, n // BLOCKS))
        await _begin(client, store, VersionTrial(new, SHADOW))
        beside.append(await _asked(client, running, texts, n // BLOCKS))
        await asyncio.sleep(1)  # what waits is compared
        figures = (await _until(client, "shadow", lambda told: told["figures"]))["figures"]
        dropped += figures["dropped"]
        taken += figures["compared"] + figures["dropped"]
        store.end_trial("demo", "shadow")
        await _until(client, "shadow", lambda told: told["state"] == "none")
    _compare(alone, beside, found)
    found.note(
        f"the shadow got {taken} documents, {dropped} of them dropped",
        abs(taken - SHADOW * n) <= _width(SHADOW, n) * n,
    )
    await _begin(client, store, VersionTrial(new, 1.0))
    await _agreement(client, running, texts, n // 5, found)
    store.begin_trial("demo", "canary", VersionTrial(new, CANARY, by="x-user"))
    await _until(client, "canary", lambda told: told["state"] == "running")
    await _canary(client, running, texts, n, new, found)
    client.close()


async def _begin(client: Client, store: Store, trial: VersionTrial) -> None:
    store.begin_trial("demo", "shadow", trial)
    await _until(client, "shadow", lambda told: told["state"] == "running")


def _compare(alone: list[Block], beside: list[Block], found: Findings) -> None:
    usual = {}
    for name, blocks in {"alone": alone, "with a shadow": beside}.items():
        answers = [answer for block in blocks for answer in block[0]]
        failed = sum(answer.status != 200 for answer in answers)
        usual[name] = median(p99(block[0]) for block in blocks)
        cpu = median(block[1] for block in blocks)
        found.note(
            f"{name}: {len(answers)} requests, {failed} failed, p99 {usual[name] * 1e3:.2f} ms, "
            f"{cpu * 1e6:.0f} µs of CPU each (medians of {len(blocks)} blocks, in turn)",
            not failed,
        )
    ratio = usual["with a shadow"] / usual["alone"]
    found.note(f"p99 with a shadow {ratio:.2f} ×", ratio <= SLOWER)


def _width(share: float, n: int) -> float:
    """How far a share of so many may be off by chance."""
    return float(STANDARD_ERRORS * (share * (1 - share) / n) ** 0.5)


async def _asked(
    client: Client, running: RunningReplica, texts: Sequence[str], n: int, rate: float = RATE
) -> Block:
    """The answers to evenly paced requests of one document each, and the CPU seconds of one."""
    loop, sent, before = asyncio.get_running_loop(), [], _cpu(running.pid)
    due = loop.time()
    for number in range(n):
        due += 1 / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        asked = _prediction(texts[number % len(texts)], number)
        sent.append(asyncio.create_task(client.send(asked)))
    answers = await asyncio.gather(*sent)
    return list(answers), (_cpu(running.pid) - before) / n


async def _agreement(
    client: Client, running: RunningReplica, texts: list[str], n: int, found: Findings
) -> None:
    """What the service says of the shadow, beside both versions asked about the same documents."""
    await _asked(client, running, texts, n, RATE / 4)
    told = await _until(
        client,
        "shadow",
        lambda told: sum(told["figures"][k] for k in ("compared", "dropped", "failed")) >= n,
    )
    figures = told["figures"]
    found.note(
        f"{figures['compared']} documents compared, {figures['dropped']} dropped, "
        f"{figures['failed']} failed",
        figures["compared"] + figures["dropped"] == n and not figures["failed"],
    )
    sets = [_labels(running.models, told[version], texts) for version in ("current", "version")]
    every = [(number % len(texts)) for number in range(n)]
    both = sum(len(sets[0][i] & sets[1][i]) for i in every)
    either = sum(len(sets[0][i] | sets[1][i]) for i in every)
    said, offline = figures["all_labels"]["jaccard"], both / either
    is_exact = not figures["dropped"]
    is_same = abs(said["value"] - offline) < 1e-9 or (
        not is_exact and said["low"] <= offline <= said["high"]
    )
    found.note(f"Jaccard {said['value']:.6f}, offline {offline:.6f}", is_same)


async def _canary(
    client: Client,
    running: RunningReplica,
    texts: list[str],
    n: int,
    new: str,
    found: Findings,
) -> None:
    answers, _ = await _asked(client, running, texts, n)
    failed = sum(answer.status != 200 for answer in answers)
    sides = [answer.headers.get("x-model-version") == new for answer in answers]
    again, _ = await _asked(client, running, texts, n // 2)
    moved = sum(
        (answer.headers.get("x-model-version") == new) != side
        for answer, side in zip(again, sides, strict=False)
    )
    share = sum(sides) / n
    found.note(f"canary of {CANARY}: {failed} failed", not failed)
    found.note(f"{share:.4f} of callers", abs(share - CANARY) <= _width(CANARY, n))
    found.note(f"{moved} callers changed sides", not moved)


def _labels(models: Path, version: str, texts: list[str]) -> list[set[str]]:
    plan = plan_of(Query(), load_model(Store(models), f"demo@{version}").classifier)
    return [{label.label for label in one.labels} for one in plan.predictions(texts)]


def _prediction(text: str, user: int) -> bytes:
    body = json.dumps({"documents": [text]}).encode()
    return head("/predict", JSON, f"Content-Length: {len(body)}", f"X-User: {user}") + body


async def _until(client: Client, kind: str, holds: Any) -> Any:
    end = monotonic() + 60
    while monotonic() < end:
        told = (await client.send(request(f"/models/demo/{kind}"))).json()
        if holds(told):
            return told
        await asyncio.sleep(0.1)
    raise TimeoutError(f"the {kind} did not come so far")


def _cpu(pid: int) -> float:
    """Seconds of processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
