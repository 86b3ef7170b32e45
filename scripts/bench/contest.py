"""Contests between programs: each set up in a process of its own, then timed in turns."""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.peers_venv import PYTHON, ROOT, ensure
from bench.sections import is_quick as is_quick

FOLDER = Path(__file__).parent / "peers"
WORK = ROOT / ".cache" / "bench"
NOBODY: Mapping[str, int] = {}


class Contestant:
    """A script of scripts/bench/peers that waits for its turns; `failure` says why it cannot."""

    def __init__(self, task: str, name: str) -> None:
        self.name, self.failure = name, ""
        self.found: dict[str, list[dict[str, float]]] = {}
        script = FOLDER / f"{task}_{name}.py"
        python = sys.executable if name == "labelserve" else str(PYTHON)
        self._errors = (WORK / f"{task}_{name}.log").open("w+")
        self._process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment(name),
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
            self.found.setdefault(round_name, []).append(answer)

    def median(self, round_name: str, figure: str) -> float:
        """The median of a figure over the turns; NaN where there was none."""
        values = self._turns(round_name, figure)
        return statistics.median(values) if values else float("nan")

    def medians(self, round_name: str) -> dict[str, float]:
        """The median of every figure."""
        figures = {figure for turn in self.found.get(round_name, []) for figure in turn}
        return {figure: self.median(round_name, figure) for figure in sorted(figures)}

    def limit_cpu(self, seconds: float) -> None:
        """Have it end when it has taken so many CPU seconds from now on."""
        ticks = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
        most = int(used + seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (most, most))

    def most(self, round_name: str, figure: str) -> float:
        """The highest value over the turns: memory grows in the first turn and is kept."""
        return max(self._turns(round_name, figure), default=float("nan"))

    def _turns(self, round_name: str, figure: str) -> list[float]:
        return [turn[figure] for turn in self.found.get(round_name, []) if figure in turn]

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


def contest(
    task: str, names: list[str], rounds: list[str], turns: int, fewer: Mapping[str, int] = NOBODY
) -> list[Contestant]:
    """The contestants after so many turns each, taken one after the other; slow ones take fewer."""
    WORK.mkdir(parents=True, exist_ok=True)
    ensure()
    contestants = [Contestant(task, name) for name in names]
    for round_name in rounds:
        for turn in range(turns):
            for contestant in contestants:
                if turn < fewer.get(contestant.name, turns):
                    contestant.run(round_name)
    for contestant in contestants:
        contestant.close()
    return contestants


def environment(name: str) -> dict[str, str]:
    """One thread each, the data's folder, and for our own program the source tree."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    own = {"PYTHONPATH": str(ROOT)} if name == "labelserve" else {}
    return {
        **os.environ,
        **dict.fromkeys(threads, "1"),
        "LABELSERVE_BENCH_DATA": str(data_folder()),
        "LABELSERVE_BENCH_MODELS": str(WORK / "models"),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba")),
        **own,
    }


def data_folder() -> Path:
    """Where the corpora are: LABELSERVE_BENCH_DATA, else ../shared/data."""
    return Path(os.environ.get("LABELSERVE_BENCH_DATA", ROOT.parent / "shared" / "data"))


def machine() -> str:
    """One line about the machine and what it was busy with."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    python = platform.python_version()
    return f"{model}, {os.cpu_count()} cores (load {load}), Python {python}"
