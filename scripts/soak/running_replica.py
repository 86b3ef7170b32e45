"""The replica that the long runs ask: started for a run, with its memory, spool and metrics."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from bench.harness.processes import family, free_ports, resident_memory, shared_memory
from bench.harness.server_process import ServerProcess, replica

MEBIBYTE = 1 << 20


@dataclass
class RunningReplica:
    """One replica, with figures on a port of their own."""

    process: ServerProcess
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
        return self.process.pid

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
        return resident_memory(self.pid) / MEBIBYTE

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
def running_replica(models: Path, folder: Path, **settings: str) -> Iterator[RunningReplica]:
    """A replica that is ready, ended with the block."""
    port, metrics_port = free_ports(2)
    ours = {"LABELSERVE_METRICS_PORT": str(metrics_port), **settings}
    process = replica(models, port, folder, **ours)
    try:
        process.start()
        process.wait_until_ready()
        yield RunningReplica(process, models, folder / f"var-{port}", metrics_port)
    finally:
        process.end()
