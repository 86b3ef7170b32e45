"""Serving one document over HTTP: this service beside plain FastAPI, LitServe, BentoML, MLServer.

The server is pinned to one core, the load (wrk) to the other; servers take turns, medians count.
"""

import gzip
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import FOLDER, WORK, data_folder, environment, is_quick, machine
from bench.model import MODELS, prepare, stacked
from bench.peers_venv import PYTHON, ROOT, versions
from bench.sections import keep_figures, write_section

HERE = WORK / "serve"
CONNECTIONS = (1, 8, 64)
START_SECONDS = 120
N_TEXTS = 500
PEERS = {
    "fastapi": ("plain FastAPI + pydantic + scikit-learn", "/predict"),
    "litserve": ("LitServe", "/predict"),
    "bentoml": ("BentoML", "/predict"),
    "mlserver": ("MLServer", "/v2/models/debtags/infer"),
    "constant": ("uvicorn, constant answer", "/predict"),
}
FRAMEWORKS = ("litserve", "bentoml", "mlserver")
LUA = """
local bodies = {%s}
local n = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  n = n %% #bodies + 1
  return wrk.format(nil, nil, nil, bodies[n])
end
"""


@dataclass
class Contender:
    """A server that is measured in turns."""

    name: str
    title: str
    path: str
    found: dict[int, list[dict[str, float]]] = field(default_factory=dict)
    memory: float = float("nan")
    failure: str = ""

    def start(self) -> "Running":
        """Start it on a free port, pinned to the first core."""
        port = _free_port()
        command = [*_pinned(0), *self._command(port)]
        log = (HERE / f"{self.name}.log").open("wb")
        env = {**environment(self.name), "LABELSERVE_BENCH_SERVE": str(HERE)}
        if self.name == "labelserve":
            env = {k: v for k, v in env.items() if not k.startswith("LABELSERVE_")}
            env |= {"LABELSERVE_MODELS_DIR": str(HERE / "models"), "LABELSERVE_PORT": str(port)}
            env |= {"LABELSERVE_DATA_DIR": str(HERE / "var")}
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        return Running(process, f"http://127.0.0.1:{port}{self.path}", self.body("a first text"))

    def body(self, text: str) -> bytes:
        """The request for one text, as this server wants it."""
        if self.name in ("labelserve", "fastapi", "constant"):
            return json.dumps({"documents": [text], "top_k": 5}).encode()
        if self.name == "mlserver":
            tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
            return json.dumps({"inputs": [tensor]}).encode()
        return json.dumps({"text": text}).encode()

    def median(self, connections: int, figure: str) -> float:
        """The median of a figure; NaN where it was not measured."""
        values = [turn[figure] for turn in self.found.get(connections, [])]
        return statistics.median(values) if values else float("nan")

    def _command(self, port: int) -> list[str]:
        if self.name == "labelserve":
            return [sys.executable, "-m", "app.main"]
        python = sys.executable if self.name == "constant" else str(PYTHON)
        return [python, str(FOLDER / f"serve_{self.name}.py"), str(port)]


@dataclass
class Running:
    """A started server."""

    process: subprocess.Popen[bytes]
    url: str
    first: bytes

    def wait(self) -> None:
        """Until it answers a prediction."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.ask()
            except OSError:
                time.sleep(0.2)
            else:
                return
        raise RuntimeError("it did not start")

    def ask(self) -> bytes:
        """One answer."""
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url, self.first, headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            content: bytes = answer.read()
            return content

    def load(self, lua: Path, connections: int, seconds: int) -> dict[str, float]:
        """Requests a second, latencies in ms, and CPU µs a request of the server's processes."""
        before, script = self.cpu(), ["-s", str(lua), self.url]
        done = subprocess.run(
            [*_pinned(1), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *script],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        used = self.cpu() - before
        if "Non-2xx" in done:
            raise RuntimeError("it answered with errors")
        count = int(_first(r"(\d+) requests in", done))
        return {
            "rate": float(_first(r"Requests/sec:\s+([\d.]+)", done)),
            "p50": _ms(_first(r"\n +50% +(\S+)", done)),
            "p99": _ms(_first(r"\n +99% +(\S+)", done)),
            "cpu": used / max(count, 1) * 1e6,
        }

    def cpu(self) -> float:
        """CPU seconds of all its processes so far."""
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Megabytes of all its processes, shared pages counted once."""
        found = 0
        for pid in self.pids():
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            found += int(_first(r"Pss:\s+(\d+) kB", rollup))
        return found / 1024

    def pids(self) -> list[int]:
        """Its processes."""
        return _family(self.process.pid)

    def stop(self) -> None:
        """End it and what it started, by their process ids."""
        family = self.pids()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        for pid in family:
            if Path(f"/proc/{pid}").exists() and pid != self.process.pid:
                os.kill(pid, 9)


def main() -> None:
    """Measure, print and write the section `serving`."""
    if shutil.which("wrk") is None:
        sys.exit("this benchmark needs the program wrk")
    prepare()
    _prepare_files()
    turns, seconds = (1, 1) if is_quick() else (5, 4)
    contenders = [Contender("labelserve", "**labelserve**", "/predict")]
    contenders += [Contender(name, *about) for name, about in PEERS.items()]
    for _ in range(turns):
        for contender in contenders:
            _turn(contender, seconds)
    text = section(contenders, turns, seconds)
    print(text)
    write_section("serving", text)
    keep_figures("serving", figures(contenders))


def _turn(contender: Contender, seconds: int) -> None:
    if contender.failure:
        return
    running = contender.start()
    try:
        running.wait()
        lua = _lua(contender)
        running.load(lua, 8, 1)
        for connections in CONNECTIONS:
            found = running.load(lua, connections, seconds)
            contender.found.setdefault(connections, []).append(found)
        contender.memory = running.memory()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        contender.failure = str(error)
    finally:
        running.stop()


def section(contenders: list[Contender], turns: int, seconds: int) -> str:
    """The section in Markdown."""
    ours, plain, floor = (_named(contenders, n) for n in ("labelserve", "fastapi", "constant"))
    cpu = [one.median(8, "cpu") for one in (ours, plain, floor)]
    lines = [
        "## Serving one document",
        "",
        "debtags (594 labels), one short text a request, top 5; the server on one core, wrk on "
        f"the other; medians of {turns} turns of {seconds} s, servers alternating. CPU is of all "
        "the server's processes, at 8 connections. req/s, p50 and p99 (ms) are at 1 / 8 / 64 "
        "connections.",
        "",
        "| server | CPU µs a request | req/s | p50 | p99 | memory MB |",
        "|---|---|---|---|---|---|",
        *(_row(contender) for contender in contenders),
        "",
        f"CPU a request: 1/{cpu[1] / cpu[0]:.1f} of plain FastAPI, {cpu[0] / cpu[2]:.1f} times "
        "uvicorn's constant answer.",
        "",
        f"{machine()}; {', '.join(f'{k} {v}' for k, v in versions().items() if k in PEERS)}. "
        "Reproduce: `.venv/bin/python scripts/bench/run.py --only serve`.",
    ]
    return "\n".join(lines)


def figures(contenders: list[Contender]) -> dict[str, Any]:
    """CPU a request and memory, and the least lead over the other frameworks in any figure."""
    ours, leads = contenders[0], []
    for peer in contenders:
        if peer.name not in FRAMEWORKS or peer.failure:
            continue
        leads.append(peer.memory / ours.memory)
        for connections in CONNECTIONS:
            leads.append(ours.median(connections, "rate") / peer.median(connections, "rate"))
            for figure in ("p50", "p99"):
                leads.append(peer.median(connections, figure) / ours.median(connections, figure))
    cpu = {one.name: one.median(8, "cpu") for one in contenders if not one.failure}
    return {"cpu": cpu, "least_lead": min(leads)}


def _row(contender: Contender) -> str:
    if contender.failure:
        return f"| {contender.title} | {contender.failure} | | | | |"

    def at(figure: str, form: str) -> str:
        return " / ".join(format(contender.median(c, figure), form) for c in CONNECTIONS)

    return (
        f"| {contender.title} | {contender.median(8, 'cpu'):.0f} | {at('rate', '.0f')} | "
        f"{at('p50', '.2f')} | {at('p99', '.2f')} | {contender.memory:.0f} |"
    )


def _prepare_files() -> None:
    """What servers and load need: the model alone in a folder, labels, texts, an answer."""
    from app.artifacts.store import Store
    from app.model import load_model

    HERE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(HERE / "models", ignore_errors=True)
    shutil.copytree(MODELS / "debtags", HERE / "models" / "debtags")
    names = load_model(Store(MODELS), "debtags").classifier.labels.names
    facts = {
        "train": str(data_folder().resolve() / "debtags" / "train.txt.gz"),
        "stacked": str(HERE / "stacked.npy"),
        "labels": list(names),
    }
    np.save(HERE / "stacked.npy", stacked())
    (HERE / "facts.json").write_text(json.dumps(facts))
    server = Contender("labelserve", "", "/predict").start()
    try:
        server.wait()
        (HERE / "answer.json").write_bytes(server.ask())
    finally:
        server.stop()


def _lua(contender: Contender) -> Path:
    with gzip.open(data_folder() / "debtags" / "test.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[-1] for line in islice(lines, N_TEXTS)]
    bodies = (contender.body(text).decode() for text in texts)
    file = HERE / f"{contender.name}.lua"
    file.write_text(LUA % ",\n".join(f"[==[{body}]==]" for body in bodies), encoding="utf-8")
    return file


def _named(contenders: list[Contender], name: str) -> Contender:
    return next(contender for contender in contenders if contender.name == name)


def _pinned(core: int) -> list[str]:
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[core % len(cores)])]


def _family(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += _family(int(child))
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
        return port


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"no {pattern} in what was measured")
    return match[1]


def _ms(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


if __name__ == "__main__":
    main()
