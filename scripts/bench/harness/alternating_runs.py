"""Programs timed in turns: each is set up once in a process of its own, then they alternate."""

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from bench.harness.environment import PEERS, WORK, program_environment
from bench.harness.peers_venv import PYTHON, ensure
from bench.harness.processes import cpu_seconds

NOBODY: Mapping[str, int] = {}


class Candidate:
    """The program peers/TASK/NAME.py, which waits for its turns; `failure` says why it cannot."""

    def __init__(self, task: str, name: str) -> None:
        self.name, self.failure = name, ""
        self.measured: dict[str, list[dict[str, float]]] = {}
        self._errors = (WORK / f"{task}_{name}.log").open("w+")
        self._process = subprocess.Popen(
            peer_command(task, name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=program_environment(name),
        )
        self.facts: dict[str, Any] = self._answer()

    def run(self, round_name: str) -> None:
        """One timed turn."""
        if self.failure or self._process.stdin is None:
            return
        self._process.stdin.write(f"{round_name}\n")
        self._process.stdin.flush()
        answer = self._answer()
        if not self.failure:
            self.measured.setdefault(round_name, []).append(answer)

    def median(self, round_name: str, figure: str) -> float:
        """The median of a figure over the turns; NaN where there was none."""
        values = self._turns(round_name, figure)
        return statistics.median(values) if values else float("nan")

    def medians(self, round_name: str) -> dict[str, float]:
        """The median of every figure."""
        figures = {figure for turn in self.measured.get(round_name, []) for figure in turn}
        return {figure: self.median(round_name, figure) for figure in sorted(figures)}

    def limit_cpu(self, seconds: float) -> None:
        """Have it end when it has taken so many CPU seconds from now on."""
        most = int(cpu_seconds(self._process.pid) + seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (most, most))

    def most(self, round_name: str, figure: str) -> float:
        """The highest value over the turns: memory grows in the first turn and is kept."""
        return max(self._turns(round_name, figure), default=float("nan"))

    def _turns(self, round_name: str, figure: str) -> list[float]:
        return [turn[figure] for turn in self.measured.get(round_name, []) if figure in turn]

    def close(self) -> None:
        """Let it end."""
        if self._process.stdin is not None and not self.failure:
            self._process.stdin.close()
        self._process.wait(timeout=60)
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        """The next line that is a message of ours; some peers talk on stdout as well."""
        for line in self._process.stdout or ():
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        self._errors.flush()
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-1:] or ["it ended without a word"]
        self.failure = last[0][:160]
        return {}


def run_alternately(
    task: str, names: list[str], rounds: list[str], turns: int, fewer: Mapping[str, int] = NOBODY
) -> list[Candidate]:
    """The programs after so many turns each, taken one after the other; slow ones take fewer."""
    WORK.mkdir(parents=True, exist_ok=True)
    ensure()
    candidates = [Candidate(task, name) for name in names]
    for round_name in rounds:
        for turn in range(turns):
            for candidate in candidates:
                if turn < fewer.get(candidate.name, turns):
                    candidate.run(round_name)
    for candidate in candidates:
        candidate.close()
    return candidates


def peer_command(task: str, name: str, python: str | None = None) -> list[str]:
    """The command of peers/TASK/NAME.py in the venv of its packages, or with another Python.

    -P keeps the script's own folder off the path: pecos.py there must not hide the package pecos.
    """
    chosen = python or (sys.executable if name == "labelserve" else str(PYTHON))
    return [chosen, "-P", str(PEERS / task / f"{name}.py")]
