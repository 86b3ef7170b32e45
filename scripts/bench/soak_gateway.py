"""Rolling restarts and killed replicas behind a real nginx, under load: what do clients notice?

Twenty rolling restarts must fail no request of at least 20,000; a killed replica may cost only the
requests it had in hand, and must be ready again within 10 seconds.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import is_quick, machine
from bench.gateway import (
    ROOT,
    Load,
    Process,
    free_ports,
    gateway,
    replica,
    restart_one_by_one,
)
from bench.sections import write_section

CLIENTS, PAUSE = 16, 0.02
RESTARTS, KILLS = (2, 2) if is_quick() else (20, 10)
LEAST_REQUESTS = 0 if is_quick() else 20_000
READY_SECONDS = 10.0
BODY = {"documents": ["the invoice was charged twice and the parcel is late"], "top_k": 5}


def main() -> int:
    """Run both, write the section; 1 if a figure is not reached."""
    with tempfile.TemporaryDirectory(prefix="labelserve-soak-") as name:
        folder = Path(name)
        models = demo_model(folder)
        with site(models, folder) as (port, replicas):
            restarted = rolling_restarts(port, replicas)
            killed = kills(port, replicas)
    write_section("gateway", _section(restarted, killed))
    is_good = (
        not restarted["failed"]
        and restarted["requests"] >= LEAST_REQUESTS
        and killed["failed"] <= CLIENTS * KILLS
        and killed["slowest"] <= READY_SECONDS
    )
    print(restarted, killed, "good" if is_good else "NOT as promised")
    return 0 if is_good else 1


def demo_model(folder: Path) -> Path:
    """A models folder with the demo model, trained now."""
    for words in (
        ["make_demo.py", str(folder / "demo")],
        ["train.py", f"{folder}/demo/train.jsonl", "--model=demo", f"--models-dir={folder}/models"],
    ):
        command = [sys.executable, str(ROOT / "scripts" / words[0]), *words[1:]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "models"


@contextmanager
def site(models: Path, folder: Path) -> Iterator[tuple[int, list[Process]]]:
    """The gateway's port and two replicas behind it, all ready."""
    port, *inside = free_ports(3)
    replicas = [replica(models, number, folder) for number in inside]
    door = gateway(port, inside, folder)
    try:
        for process in [*replicas, door]:
            process.start()
        for process in [*replicas, door]:
            process.wait_until_ready()
        yield port, replicas
    finally:
        for process in [door, *replicas]:
            process.end()


def rolling_restarts(port: int, replicas: list[Process]) -> dict[str, Any]:
    """Restart both replicas one after the other, again and again, until enough was asked."""
    begun, rounds = time.monotonic(), 0
    with Load(port, BODY, CLIENTS, PAUSE).running() as load:
        while rounds < RESTARTS or load.sent < LEAST_REQUESTS:
            restart_one_by_one(replicas)
            rounds += 1
    return {
        "rounds": rounds,
        "requests": load.sent,
        "failed": len(load.failures),
        "examples": sorted(set(load.failures))[:3],
        "seconds": time.monotonic() - begun,
    }


def kills(port: int, replicas: list[Process]) -> dict[str, Any]:
    """Kill the replicas in turn; each must be ready again before the next is killed."""
    times = []
    with Load(port, BODY, CLIENTS, PAUSE).running() as load:
        for number in range(KILLS):
            victim = replicas[number % len(replicas)]
            time.sleep(0.5)
            victim.send(signal.SIGKILL)
            victim.start()
            times.append(victim.wait_until_ready())
    return {
        "kills": KILLS,
        "requests": load.sent,
        "failed": len(load.failures),
        "examples": sorted(set(load.failures))[:3],
        "slowest": max(times),
    }


def _section(restarted: dict[str, Any], killed: dict[str, Any]) -> str:
    return f"""## Restarts and kills behind the gateway

Two replicas behind nginx with `deploy/nginx/nginx.conf`, {CLIENTS} clients that post predictions
of the demo model, {PAUSE * 1000:.0f} ms between an answer and the next request; every answer is
compared with the first.

| | requests | failed | |
|---|---|---|---|
| {restarted["rounds"]} rolling restarts of both replicas | {restarted["requests"]:,} | \
{restarted["failed"]} | {restarted["seconds"]:.0f} s |
| {killed["kills"]} × SIGKILL of a replica | {killed["requests"]:,} | {killed["failed"]} | \
ready again after {killed["slowest"]:.1f} s at most |

`.venv/bin/python scripts/bench/soak_gateway.py{" --quick" if is_quick() else ""}` ({machine()})
"""


if __name__ == "__main__":
    sys.exit(main())
