"""`make soak`: the long runs: what the service must survive, in full, in 15 minutes.

Every run judges itself by its bounds; its row of docs/benchmarks.md is written when it ends.
`--only R9,R16` does some of them; `--quick` checks that all work, in 4 minutes, and writes nothing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import WORK, machine
from bench.harness.sections import PAGE, write_section
from soak.cluster import disturbed_workers
from soak.demo import demo_model
from soak.findings import Findings
from soak.forged_headers import forged_headers
from soak.gateway import HAPROXY, NGINX
from soak.jobs import evaluation_jobs
from soak.live import trials
from soak.load import half_load, overload, slow_clients
from soak.loop import largest_answers
from soak.models import damages, swaps
from soak.operating import lost_models_folder, revoked_keys, unread_logs
from soak.readers import unread_answers
from soak.restarts import kills, rolling_restarts
from soak.running_jobs import beside_jobs
from soak.seeds import seeds, streams
from soak.signals import signals
from soak.uploads import bombs, large_uploads, leavers

RESULTS = WORK / "soak.json"

Run = Callable[[Path, Path, bool], Findings]

RUNS: dict[str, tuple[Run, str, str]] = {
    "R1": (
        rolling_restarts,
        "rolling restart ×20 of 2 replicas behind nginx, 16 clients posting",
        "0 failed of ≥ 20,000 requests",
    ),
    "R3": (
        kills,
        "SIGKILL ×10 of a replica behind nginx, under load",
        "only requests in flight on it fail; ready again ≤ 10 s",
    ),
    "R4": (
        large_uploads,
        "300 MB evaluated while another client predicts",
        "memory +≤ 64 MB; p99 of predict ≤ 50 ms above idle; ≥ 100 MB/s into the spool",
    ),
    "R5": (
        bombs,
        "bombs of 1 and 4 GiB, nested, truncated, wrong CRC",
        "413/422 in ≤ 1 s; memory +≤ 16 MB",
    ),
    "R9": (
        overload,
        "4 × overload for 60 s, 1000 documents a request; then again, evenly spaced",
        "accepted p99 ≤ 2 × that at 80 % load; the rest 429 + Retry-After in ≤ 50 ms; health "
        "always 200; recovered ≤ 2 s after",
    ),
    "R10": (
        swaps,
        "100 model swaps under load",
        "0 failed; every answer right for the version it names; memory back to one model",
    ),
    "R11": (
        damages,
        "damaged artifacts of 14 kinds",
        "14 of 14 refused in ≤ 2 s; the old model goes on; at first start: not ready",
    ),
    "R16": (
        slow_clients,
        "200 connections at 1 byte/s",
        "predict p99 ≤ 2 ×; cut at the time limit",
    ),
    "R17": (
        leavers,
        "client leaves mid-upload ×500",
        "spool empty ≤ 5 s, no traceback, gauges back to 0",
    ),
    "R18": (
        half_load,
        "half load with swaps and evaluations",
        "second-half memory growth ≤ 5 %; no 5xx",
    ),
    "R23": (
        forged_headers,
        "trailers that name an administrator, repeated headers, upgrade offers, in pieces; "
        "directly, through nginx and through HAProxy",
        "trailers 403, repeated headers 400, offers lose nothing",
    ),
    "R26": (
        lost_models_folder,
        "the models folder vanishes, is empty, cannot be opened (EMFILE), under load",
        "what was loaded goes on serving",
    ),
    "R28": (
        revoked_keys,
        "a key revoked while its stream, upload and evaluation run",
        "ended within 5 s",
    ),
    "R29": (
        unread_logs,
        "standard output and error never read, one worker and two",
        "nothing waits for it; dropped lines are counted",
    ),
    "R25": (
        unread_answers,
        "200 connections that never read a 37 MB answer",
        "cut in time; the sum of unsent answers bounded; memory back; health always 200",
    ),
    "R27": (
        signals,
        "2 workers: SIGTERM twice to all, SIGKILL of the supervisor, SIGSTOP of a worker",
        "drain as promised; no orphan serves; the stopped one is replaced",
    ),
    "R32": (
        evaluation_jobs,
        "evaluation jobs, SQLite and PostgreSQL: 3 workers, 12 jobs, 40 × kill -9; SIGSTOP past "
        "the lease; the database restarted, locked for 30 s",
        "every job ends once, with the undisturbed report",
    ),
    "R34": (
        disturbed_workers,
        "a training on a scheduler and two workers: SIGSTOP of one for a minute; no room on the "
        "disk of one (RLIMIT_FSIZE)",
        "the model of `--jobs`, to the byte, or an error that says how to go on, and then that "
        "model",
    ),
    "R35": (
        beside_jobs,
        "an evaluation job of 60 MB while another client predicts",
        "p99 of predict ≤ 20 ms above idle",
    ),
    "R36": (
        trials,
        "10,000 requests at 400 a second: alone, with a shadow of 0.1 of the documents, with a "
        "canary of 0.05 of the callers; 2,000 with a shadow of all",
        "0 failed; p99 with a shadow ≤ 1.2 ×; both shares within sampling error; no caller changes "
        "sides; agreement as offline",
    ),
    "R31": (
        seeds,
        "seeds of the model store, keys, spool, usage and evaluations: crashes, lost and torn "
        "writes, ENOSPC, EIO, EMFILE, clock jumps, processes at once; faults planted",
        "no promise broken by 100,000 seeds; every planted fault found within 300",
    ),
    "R40": (
        streams,
        "streams of bytes, ours beside plain uvicorn: cut, pipelined, oddly framed, with offers "
        "and trailers",
        "no difference unexplained in 20,000 streams",
    ),
    "R30": (
        largest_answers,
        "every route's largest answer",
        "no callback takes more than 20 ms of the loop thread's CPU",
    ),
}


@dataclass
class Result:
    """One row."""

    found: str
    held: bool
    seconds: float
    load: float
    nice: int = 0


def main() -> int:
    """Do the runs; 1 if a bound did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(RUNS), help="R9,R16: just these")
    parser.add_argument("--quick", action="store_true", help="a check of all; writes nothing")
    options = parser.parse_args()
    names = options.only.upper().split(",")
    if unknown := [name for name in names if name not in RUNS]:
        parser.error(f"no such run: {', '.join(unknown)}; there are: {', '.join(RUNS)}")
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        models = demo_model(folder)
        results = [_run(name, models, folder, options.quick) for name in names]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failed = [name for name, result in zip(names, results, strict=True) if not result.held]
    print(f"NOT as promised: {', '.join(failed)}" if failed else "all as promised")
    return 1 if failed else 0


def _run(name: str, models: Path, folder: Path, quick: bool) -> Result:
    run, what, must = RUNS[name]
    print(f"{name} {what}\n  must hold: {must}", flush=True)
    load, begun = os.getloadavg()[0], time.monotonic()
    try:
        found = run(models, folder, quick)
    except (OSError, RuntimeError, ValueError) as error:
        found = Findings([f"**{type(error).__name__}: {str(error)[:200]}**"], False)
    result = Result("; ".join(found.words), found.held, time.monotonic() - begun, load, _nice())
    verdict = "held" if result.held else f"NOT HELD (more in {_kept_logs(name, folder)})"
    print(f"  {result.found}\n  {verdict}, {result.seconds:.0f} s", flush=True)
    if not quick:
        _record(name, result)
    return result


def _kept_logs(name: str, folder: Path) -> Path:
    """What the replicas have said so far, but for lines of requests that went well."""
    WORK.mkdir(parents=True, exist_ok=True)
    kept = WORK / f"soak-{name}.log"
    lines = [line for log in folder.glob("*.log") for line in log.read_text().splitlines(True)]
    kept.write_text("".join(line for line in lines if '"level":"info"' not in line))
    return kept


def _record(name: str, result: Result) -> None:
    """Put the row into the section, beside those of earlier runs."""
    WORK.mkdir(parents=True, exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[name] = asdict(result)
    RESULTS.write_text(json.dumps(known))
    write_section("soak", _section({name: Result(**row) for name, row in known.items()}))


def _standing_rows() -> dict[str, str]:
    """The rows of the page: what was run in another checkout stays as it is."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = {line.split(" ")[1]: line for line in lines if line.startswith("| R")}
    return {name: row for name, row in rows.items() if name in RUNS}


def _row(name: str, result: Result) -> str:
    _, what, must = RUNS[name]
    held = "yes" if result.held else "**no**"
    figures = f"{result.seconds:.0f} | {result.load:.1f} | {result.nice}"
    return f"| {name} | {what} | {must} | {result.found} | {held} | {figures} |"


def _section(results: dict[str, Result]) -> str:
    own = {name: _row(name, result) for name, result in results.items() if name in RUNS}
    every = _standing_rows() | own
    rows = [every[name] for name in RUNS if name in every]
    packages = ", ".join(f"{name} {version(name)}" for name in ("uvicorn", "fastapi", "numpy"))
    return "\n".join(
        [
            "## What the service survives",
            "",
            "The demo model, one worker a replica, clients on the same two cores; memory is that "
            "of the serving process. What is out of its bounds is set in bold. `load` is that of "
            "the machine before the run, `nice` below 0 a priority over the other work on it. "
            "80 % and 4 × in R9 are of what two clients get that wait for their answers. At 80 % "
            "requests that come together wait for each other, which is most of their p99; under "
            "overload, but for its first second, large requests are let in one at a time.",
            "",
            "| | run | must hold | found | held | s | load | nice |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"{machine()}, {packages}, {_gateways()}. Reproduce: `make soak`, one of "
            'them `make soak ARGS="--only R9"`.',
        ]
    )


def _nice() -> int:
    """The priority of this group of processes against the others on the machine."""
    group = Path("/proc/self/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else 0


def _gateways() -> str:
    """The versions of nginx and HAProxy."""
    said = [
        subprocess.run([program, "-v"], capture_output=True, text=True, check=True)
        for program in (NGINX, HAPROXY)
        if program is not None
    ]
    numbers = [re.search(r"(nginx|HAProxy)\D+([\d.]+)", each.stderr + each.stdout) for each in said]
    return ", ".join(" ".join(number.groups()) for number in numbers if number)


if __name__ == "__main__":
    sys.exit(main())
