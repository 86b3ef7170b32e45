"""The servers that are measured: started one at a time, pinned to a core, ended by process id."""

import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness.alternating_runs import peer_command
from bench.harness.environment import ROOT, WORK, program_environment
from bench.harness.processes import cpu_seconds, family, free_ports, shared_memory
from bench.serving.wrk import WrkRun, pinned, run_wrk

FILES = WORK / "serve"
START_SECONDS = 120


@dataclass
class MeasuredServer:
    """A server with its figures: `turns[heads, connections]` are those of each turn."""

    name: str
    title: str
    path: str
    turns: dict[tuple[str, int], list[dict[str, float]]] = field(default_factory=dict)
    memory: float = float("nan")
    failure: str = ""

    def start(self) -> "RunningServer":
        """Start it on a free port, pinned to the first core."""
        (port,) = free_ports(1)
        with (FILES / f"{self.name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*pinned(0), *self._command(port)],
                cwd=ROOT,
                env=self._environment(port),
                stdout=log,
                stderr=log,
            )
        url = f"http://127.0.0.1:{port}{self.path}"
        return RunningServer(process, url, self.body("a first text"))

    def body(self, text: str) -> bytes:
        """The request for one text, as this server wants it."""
        if self.name in ("labelserve", "fastapi", "constant"):
            return json.dumps({"documents": [text], "top_k": 5}).encode()
        if self.name == "mlserver":
            tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
            return json.dumps({"inputs": [tensor]}).encode()
        return json.dumps({"text": text}).encode()

    def median(self, connections: int, figure: str, heads: str = "changing") -> float:
        """The median of a figure; NaN where it was not measured."""
        values = [turn[figure] for turn in self.turns.get((heads, connections), [])]
        return statistics.median(values) if values else float("nan")

    def _command(self, port: int) -> list[str]:
        if self.name == "labelserve":
            return [sys.executable, "-m", "app.main"]
        own = sys.executable if self.name == "constant" else None  # our uvicorn, not the peers'
        return [*peer_command("serve", self.name, own), str(port)]

    def _environment(self, port: int) -> dict[str, str]:
        """A peer is told of the benchmark's files; ours has no settings but these three."""
        given = program_environment(self.name)
        if self.name != "labelserve":
            return {**given, "LABELSERVE_BENCH_SERVE": str(FILES)}
        return {
            **{name: value for name, value in given.items() if not name.startswith("LABELSERVE_")},
            "LABELSERVE_MODELS_DIR": str(FILES / "models"),
            "LABELSERVE_PORT": str(port),
            "LABELSERVE_DATA_DIR": str(FILES / "var"),
        }


@dataclass
class RunningServer:
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

    def answer(self, load: WrkRun) -> dict[str, float]:
        """wrk's figures, and CPU µs a request of all the server's processes."""
        before = self.cpu()
        figures = run_wrk(self.url, load)
        return {**figures, "cpu": (self.cpu() - before) / max(figures["count"], 1.0) * 1e6}

    def cpu(self) -> float:
        """CPU seconds of all its processes so far."""
        return sum(map(cpu_seconds, family(self.process.pid)))

    def memory(self) -> float:
        """Megabytes of all its processes, shared pages counted once."""
        return sum(map(shared_memory, family(self.process.pid))) / (1 << 20)

    def stop(self) -> None:
        """End it and what it started, by their process ids."""
        members = family(self.process.pid)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        for pid in members:
            if Path(f"/proc/{pid}").exists() and pid != self.process.pid:
                os.kill(pid, 9)
