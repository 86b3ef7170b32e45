"""What the long runs share: models, a running replica, its memory, and what a run has found."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from app.artifacts.store import Store

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.gateway import Process, free_ports, replica
from bench.peers_venv import ROOT
from bench.processes import family, shared_memory

MEBIBYTE = 1 << 20
TEXT = "the invoice was charged twice, please refund the payment"


@dataclass
class Findings:
    """What a run has found, in words, and whether every bound held."""

    words: list[str] = field(default_factory=list)
    held: bool = True

    def note(self, words: str, held: bool = True) -> None:
        """Add a figure; one out of its bounds is set in bold."""
        self.words.append(words if held else f"**{words}**")
        self.held = self.held and held


@dataclass
class Site:
    """One replica, with figures on a port of their own."""

    process: Process
    models: Path
    data: Path
    metrics_port: int

    @property
    def port(self) -> int:
        """Where it answers."""
        return self.process.port

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.running.pid if self.process.running is not None else 0

    @property
    def log(self) -> str:
        """All that it has logged."""
        return self.process.log.read_text()

    @property
    def spool(self) -> list[Path]:
        """The uploads that lie in the spool now."""
        return [entry for entry in (self.data / "spool").iterdir() if entry.suffix != ".lock"]

    def memory(self) -> float:
        """Resident MB of the serving process."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0

    def all_memory(self) -> float:
        """MB of the serving process and its helpers, shared pages counted once."""
        return sum(map(shared_memory, family(self.pid))) / MEBIBYTE

    def mapped_versions(self) -> set[str]:
        """The versions of models that are mapped into its memory."""
        maps = Path(f"/proc/{self.pid}/maps").read_text()
        return set(re.findall(rf"{re.escape(str(self.models))}/[^/]+/([^/]+)/", maps))

    def figure(self, name: str) -> float:
        """The sum of a figure of /metrics; asked on its own port, so not counted itself."""
        with urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as answer:
            text = answer.read().decode()
        values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, values))


@contextmanager
def site(models: Path, folder: Path, **settings: str) -> Iterator[Site]:
    """A replica that is ready, ended with the block."""
    port, metrics_port = free_ports(2)
    ours = {"LABELSERVE_METRICS_PORT": str(metrics_port), **settings}
    process = replica(models, port, folder, **ours)
    try:
        process.start()
        process.wait_until_ready()
        yield Site(process, models, folder / f"var-{port}", metrics_port)
    finally:
        process.end()


def demo_model(folder: Path) -> Path:
    """A models folder with two versions of the demo model that score differently."""
    models = folder / "models"
    _run("make_demo.py", str(folder / "demo"))
    for cost in ("1", "8"):
        data = f"{folder}/demo/train.jsonl"
        _run(
            "train.py",
            data,
            "--model=demo",
            f"--models-dir={models}",
            f"--liblinear=-s 1 -c {cost}",
        )
    return models


def labelled(n_bytes: int, folder: Path) -> bytes:
    """So many bytes of the demo corpus's training documents as JSON lines, long ones."""
    lines = (folder / "demo" / "train.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    long = []
    for start in range(0, len(records), 50):
        some = records[start : start + 50]
        text = " ".join(record["text"] for record in some)
        long.append(json.dumps({"text": text, "labels": some[0]["labels"]}) + "\n")
    block = "".join(long).encode()
    return block * (n_bytes // len(block))


def versions(models: Path) -> list[str]:
    """The versions of the demo model, oldest first."""
    return Store(models).versions("demo")


def _run(script: str, *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
