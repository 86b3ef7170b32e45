"""`make cluster`: docs/cluster.md on nodes that are really apart, its examples as printed.

Hosts are namespaces of this machine: each has its own address, /tmp, disk, process numbers and
root folder; they share /shared, and the network is a bridge that nothing leads out of.

  nodes        a scheduler and workers on n1 and n2, the command on a third: train, predict,
               evaluate; then n2 is cut off, switched off, and so is the scheduler's node
  slurm        munge, slurmctld and two slurmd; the job and the dask-jobqueue program of the page
  kubernetes   the page's DaskCluster by the operator's own schema, what the operator makes of it
               by those of Kubernetes, and its pods' commands as processes: no cluster, no image

Results are compared with those of --jobs, to the byte. Needs root and Linux; for slurm also the
Debian packages munge, slurmctld, slurmd and slurm-client; for dask-jobqueue and kubernetes pip.
No process, mount or link is left when it ends, also after Ctrl-C or SIGKILL; logs stay in
.cache/cluster.
"""

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[1]))
from cluster.nodes import ROOT, joined
from cluster.parts import PARTS, checked, needs, prepared
from cluster.sandbox import check_machine, cover_home, run_inside
from containers.engine.command import CommandError, run
from containers.report import Report

HOME = ROOT / ".cache" / "cluster"
SECONDS = 900
"""Longer than any part takes."""


def main() -> int:
    """0 if every check was good."""
    arguments = parsed()
    signal.signal(signal.SIGTERM, _stop)
    try:
        if arguments.inside:
            return inside(arguments.inside, HOME / arguments.inside)
        return max([outside(part) for part in ([arguments.only] if arguments.only else PARTS)])
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was made is removed", file=sys.stderr)
        return 130


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="make cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="make cluster ARGS='--only slurm'",
    )
    parser.add_argument("--only", choices=PARTS, help="one part; all, without it")
    parser.add_argument("--inside", choices=PARTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def outside(part: str) -> int:
    """Run a part in a sandbox of its own."""
    began, logs, report = time.monotonic(), HOME / part, Report()
    print(f"{part}; logs: {logs}", flush=True)
    check_machine(needs(part))
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    run([sys.executable, "-m", "app.compiling"], cwd=ROOT)  # once, not on every node
    with prepared(part, logs, report):
        code = run_inside([sys.executable, __file__, "--inside", part], SECONDS)
    print(f"{time.monotonic() - began:.0f} s in all", flush=True)
    return code if report.is_good else 1


def inside(part: str, logs: Path) -> int:
    """Run a part's checks on three nodes, and print their table."""
    report = Report()
    cover_home()
    with joined(logs) as nodes:
        checked(part, nodes, logs, report)
    print("", report.table(), "", sep="\n", flush=True)
    return 0 if report.is_good else 1


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
