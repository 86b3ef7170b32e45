"""SLURM on the nodes: a controller on login, a slurmd on n1 and n2, munge everywhere."""

import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.nodes import Node
from containers.engine.command import CommandError
from containers.stack import wait_for

SLURM_PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
}
CONFIGURATION = """
ClusterName=check
SlurmctldHost=login
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
StateSaveLocation=/var/lib/slurm-check
SlurmdSpoolDir=/var/lib/slurm-check
ReturnToService=2
KillWait=5
MpiDefault=none
NodeName=n1,n2 CPUs=2 RealMemory=4096 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=1-00:00:00 State=UP
"""
DAEMONS = {"login": ("slurmctld", "-D"), "n1": ("slurmd", "-D"), "n2": ("slurmd", "-D")}
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}


@dataclass(frozen=True)
class BatchSystem:
    """Jobs, submitted on login."""

    nodes: dict[str, Node]

    def start(self) -> str:
        """Start every daemon; what SLURM says of its nodes once both are idle."""
        key = secrets.token_bytes(128)
        for name, node in self.nodes.items():
            _start_munge(node, key)
            (node.root / "etc/slurm").mkdir(exist_ok=True)
            (node.root / "etc/slurm/slurm.conf").write_text(CONFIGURATION)
            (node.root / "var/lib/slurm-check").mkdir()
            node.start(*DAEMONS[name], folder=Path("/"))
        wait_for(lambda: "2 idle" in self._states(), 60, "two idle nodes")
        return self.nodes["login"].run("sinfo", "--version").strip()

    def submit(self, script: str, *options: str, **env: str) -> str:
        """The number of a job."""
        said = self.nodes["login"].run("sbatch", "--parsable", *options, script, env=env)
        return said.strip().splitlines()[-1]

    def state(self, job: str) -> str:
        """What has become of a job."""
        about = self.nodes["login"].run("scontrol", "show", "job", job)
        found = re.search(r"JobState=(\w+)", about)
        return found.group(1) if found else ""

    def wait_for(self, job: str, seconds: float = 240) -> str:
        """A job's last state."""
        wait_for(lambda: self.state(job) in ENDED, seconds, f"the end of job {job}")
        return self.state(job)

    def cancel(self, job: str) -> None:
        """End a job."""
        self.nodes["login"].run("scancel", job)

    def _states(self) -> str:
        said, _ = self.nodes["login"].tried("sinfo", "--noheader", "--format", "%D %t")
        return said


def _start_munge(node: Node, key: bytes) -> None:
    """The daemon that authenticates; all nodes have the same key."""
    folder = node.root / "etc/munge"
    folder.mkdir(exist_ok=True)
    (folder / "munge.key").unlink(missing_ok=True)
    (folder / "munge.key").write_bytes(key)
    (folder / "munge.key").chmod(0o600)
    (node.root / "run/munge").mkdir(mode=0o755)
    node.start("munged", "--foreground", "--force", folder=Path("/"))
    end = time.monotonic() + 30
    while node.tried("munge", "--no-input")[1]:
        if time.monotonic() > end:
            raise CommandError(f"munge does not answer on {node.name}")
        time.sleep(0.1)
