"""wrk's runs: what it sends, as a gateway would forward it, and what it measures."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("requests.lua")
HEADS = ("changing", "same")
"""changing: request id, trace and client's address are new in every request; same: none is sent."""


@dataclass(frozen=True)
class WrkRun:
    """What wrk sends: the bodies of a file, one a line, with heads of a kind of HEADS."""

    bodies: Path
    heads: str
    connections: int
    seconds: int


def run_wrk(url: str, load: WrkRun) -> dict[str, float]:
    """How many requests were answered, how many a second, and their latencies in ms."""
    options = ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--latency"]
    script = ["-s", str(SCRIPT), url, "--", str(load.bodies), load.heads]
    command = [*pinned(1), "wrk", *options, *script]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise RuntimeError("it answered with errors")
    return {
        "count": float(_first(r"(\d+) requests in", said)),
        "rate": float(_first(r"Requests/sec:\s+([\d.]+)", said)),
        "p50": _ms(_first(r"\n +50% +(\S+)", said)),
        "p99": _ms(_first(r"\n +99% +(\S+)", said)),
    }


def pinned(core: int) -> list[str]:
    """The words before a command that keep it on one core."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[core % len(cores)])]


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"no {pattern} in what was measured")
    return match[1]


def _ms(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]
