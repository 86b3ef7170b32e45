"""The event loop in the long runs (R30): what each route's largest answer takes of its thread."""

import asyncio
import sys
from pathlib import Path

from bench.harness.processes import free_ports
from bench.harness.server_process import replica
from soak.client import Client, request
from soak.findings import Findings
from soak.largest_answers import LARGEST
from soak.loop_cpu import MOST_SECONDS, noting, seen_in
from soak.wide_model import store_wide


def largest_answers(models: Path, folder: Path, quick: bool) -> Findings:
    """R30: every route's largest answer, while others ask whether the service lives."""
    found, seen = Findings(), folder / "loop-cpu"
    store_wide(folder / "wide")
    (port,) = free_ports(1)
    process = replica(folder / "wide", port, folder)
    process.command = [sys.executable, "-c", f"{noting(seen)}\nfrom app.main import main\nmain()"]
    process.start()
    try:
        process.wait_until_ready()
        asyncio.run(_ask_each(port, seen, 1 if quick else 5, found))
    finally:
        process.end()
    return found


async def _ask_each(port: int, seen: Path, rounds: int, found: Findings) -> None:
    client, longest, slowest = Client(port), dict[str, float](), 0.0
    for name, (content, status) in list(LARGEST.items()) * rounds:
        seen.write_text("")
        done = asyncio.Event()
        beside = asyncio.create_task(client.repeated(request("/health/live"), done, 0.005))
        answer = await client.send(content)
        done.set()
        slowest = max([slowest, *(one.seconds for one in await beside)])
        longest[name] = max(longest.get(name, 0.0), seen_in(seen))
        if answer.status != status:
            found.note(f"{name}: {answer.status}", False)
    worst = max(longest, key=lambda name: longest[name])
    found.note(
        f"{len(LARGEST)} requests × {rounds}, the longest callback {longest[worst] * 1e3:.1f} ms "
        f"of CPU ({worst})",
        longest[worst] <= MOST_SECONDS,
    )
    found.note(f"/health/live waited {slowest * 1e3:.0f} ms at most")
    client.close()
