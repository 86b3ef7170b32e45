"""Predictions beside a job that runs, with one worker of jobs, as a service has by default."""

import asyncio
from pathlib import Path

from soak.client import NDJSON, Answer, Client, p99, prediction, request
from soak.demo import TEXT, labelled
from soak.findings import Findings
from soak.running_replica import running_replica

ENDED = ("done", "failed", "cancelled")
MOST_SLOWER = 20.0
"""Milliseconds that the p99 may grow by."""


def beside_jobs(models: Path, folder: Path, quick: bool) -> Findings:
    """The p99 of predictions while a job runs, above what it is while none does."""
    found = Findings()
    body = labelled((5 if quick else 60) * 1_000_000, folder)
    with running_replica(models, folder) as running:
        asyncio.run(_judge(Client(running.port), body, found))
    return found


async def _judge(client: Client, body: bytes, found: Findings) -> None:
    first = await client.send(request("/evaluations", body[: body.index(b"\n") + 1], NDJSON))
    await _ended(client, first)  # so that the worker and its processes are there
    idle = p99(await client.paced(prediction([TEXT]), 50, 5.0))
    handed_in = await client.send(request("/evaluations", body, NDJSON))
    done = asyncio.Event()
    watching = asyncio.create_task(client.repeated(prediction([TEXT]), done, 0.02))
    state = await _ended(client, handed_in)
    done.set()
    times = await watching
    slower = (p99(times) - idle) * 1e3
    found.note(f"p99 of predict idle {idle * 1e3:.1f} ms")
    found.note(f"a job of {len(body) / 1e6:.0f} MB: {state}", state == "done")
    found.note(f"{len(times)} predictions meanwhile, p99 {slower:+.1f} ms", slower <= MOST_SLOWER)
    client.close()


async def _ended(client: Client, handed_in: Answer) -> str:
    """The state in which the evaluation ended."""
    (job,) = handed_in.json()["evaluations"]
    while True:
        state: str = (await client.send(request(f"/evaluations/{job['id']}"))).json()["state"]
        if state in ENDED:
            return state
        await asyncio.sleep(0.2)
