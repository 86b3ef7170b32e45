"""A Dask scheduler on n1, workers on n1 and n2, started as docs/cluster.md says."""

import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.commands import ADDRESS, SEEN
from cluster.nodes import ROOT, SHARED, Node
from containers.engine.command import CommandError
from containers.stack import wait_for

GATE = "gate"
PRELOAD = ROOT / "tests" / "engines" / "preload_gate.py"
"""Has the workers of n2 wait before a task for as long as the file GATE is not there."""
OWN_DISK = "/tmp"  # noqa: S108 - each node has another
COPIES = Path("tmp", "dask-scratch-space", "labelserve-arrays")
N_WORKERS = {"n1": 1, "n2": 2}
WAITS = """
import sys
from distributed import Client
with Client(sys.argv[1], timeout=60) as client:
    client.wait_for_workers(int(sys.argv[2]), timeout=60)
"""


def start_scheduler(node: Node) -> "subprocess.Popen[bytes]":
    """The scheduler of docs/cluster.md."""
    return node.start("dask", "scheduler", "--port", "8786")


def start_workers(node: Node) -> "subprocess.Popen[bytes]":
    """Workers with a disk of their own; two on n2, which share what the node copies."""
    given = ("--nworkers", str(N_WORKERS[node.name]), "--nthreads", "1")
    gate = {"GATE": str(SHARED / GATE), "GATE_LETS": "0"}
    preload = ("--preload", str(PRELOAD)) if node.name == "n2" else ()
    words = ("dask", "worker", ADDRESS, *given, "--local-directory", OWN_DISK, *preload)
    return node.start(*words, folder=Path("/"), env=gate)


def wait_for_workers(
    login: Node, count: int = sum(N_WORKERS.values()), address: str = ADDRESS
) -> None:
    """Wait until the scheduler knows so many."""
    login.run("python", "-c", WAITS, address, str(count), seconds=90)


def open_gate() -> None:
    """Let n2 work."""
    (SEEN / GATE).touch()


def close_gate() -> None:
    """Have n2 stop before its next task."""
    (SEEN / f"{GATE}.reached").unlink(missing_ok=True)
    (SEEN / GATE).unlink(missing_ok=True)


def wait_at_gate(training: "subprocess.Popen[bytes]") -> None:
    """Wait until a task waits on n2, while the training goes on."""
    reached = SEEN / f"{GATE}.reached"
    wait_for(lambda: reached.exists() or training.poll() is not None, 120, "a task on n2")
    if training.poll() is not None:
        raise CommandError("the training ended before n2 had a task")


def copies(node: Node) -> list[Path]:
    """Arrays on the node's own disk."""
    return list((node.root / COPIES).glob("*.npy"))


@contextmanager
def copies_seen(*nodes: Node) -> Iterator[dict[str, dict[str, set[int]]]]:
    """Of each node the copies that are made while the block runs: name, and inodes."""
    seen: dict[str, dict[str, set[int]]] = {n.name: defaultdict(set) for n in nodes}
    ends = threading.Event()

    def look() -> None:
        while not ends.wait(0.01):
            for node in nodes:
                for copy in copies(node):
                    try:
                        seen[node.name][copy.name].add(copy.stat().st_ino)
                    except FileNotFoundError:  # removed meanwhile
                        continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ends.set()
        thread.join()


def seconds_until_ended(process: "subprocess.Popen[bytes]", began: float, seconds: float) -> float:
    """How long after `began` a command has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise CommandError(f"the command has not ended after {seconds:.0f} s") from None
    return time.monotonic() - began
