"""`make cluster`: docs/cluster.md tried on nodes that are really apart, and its examples as printed.

Hosts are namespaces of this machine: each has its own address, /tmp, disk, process numbers and
root folder; they share /shared, and the network is a bridge that nothing leads out of.

  nodes        a scheduler and workers on n1 and n2, the command on a third: train, predict,
               evaluate; then n2 is cut off, switched off, and so is the scheduler's node
  slurm        munge, slurmctld and two slurmd; the job and the dask-jobqueue program of the page
  kubernetes   the page's DaskCluster against the operator's own schema and what the operator
               makes of it; nothing is run, for there is no cluster

Results are compared with those of --jobs, to the byte. Needs root and Linux; for slurm also the
Debian packages munge, slurmctld, slurmd and slurm-client; for dask-jobqueue and kubernetes pip.
Everything is gone when it ends, also after Ctrl-C or SIGKILL; logs stay in .cache/cluster.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[1]))
from cluster.batch_system import SLURM_PROGRAMS
from cluster.nodes import ROOT, joined
from cluster.sandbox import PROGRAMS, check_machine, cover_home, run_inside
from containers.engine.command import CommandError, run
from containers.report import Report

HOME = ROOT / ".cache" / "cluster"
PARTS = ("nodes", "slurm", "kubernetes")
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
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="make cluster", description=__doc__, formatter_class=raw,
        epilog="make cluster ARGS='--only nodes'   takes about four minutes on two cores",
    )  # fmt: skip
    parser.add_argument("--only", choices=PARTS, help="one part; all, without it")
    parser.add_argument("--inside", choices=PARTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def outside(part: str) -> int:
    """Run a part in a sandbox of its own, after what needs the network outside it."""
    began = time.monotonic()
    print(f"{part}; logs: {HOME / part}")
    logs = HOME / part
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    if part == "kubernetes":
        from cluster.checks.kubernetes import kubernetes

        code = told(kubernetes)
    else:
        check_machine(PROGRAMS | (SLURM_PROGRAMS if part == "slurm" else {}))
        run([sys.executable, "-m", "app.compiling"], cwd=ROOT)  # once, not on every node
        with packages("dask-jobqueue" if part == "slurm" else "") as folder:
            os.environ["CLUSTER_CHECK_JOBQUEUE"] = folder
            code = run_inside([sys.executable, __file__, "--inside", part], SECONDS)
    print(f"{time.monotonic() - began:.0f} s in all")
    return code


def inside(part: str, logs: Path) -> int:
    """Run a part's checks on three nodes."""
    from cluster.checks import failing_nodes, separate_nodes, slurm

    cover_home()
    with joined(logs) as nodes:

        def both(report: Report) -> None:
            separate_nodes.separate_nodes(nodes, report)
            failing_nodes.failing_nodes(nodes, report)

        return told(both if part == "nodes" else lambda report: slurm.slurm(nodes, report))


def told(checks: Callable[[Report], None]) -> int:
    """Run checks, and print their table."""
    report = Report()
    checks(report)
    print("", report.table(), "", sep="\n", flush=True)
    return 0 if report.is_good else 1


@contextmanager
def packages(*names: str) -> Iterator[str]:
    """A folder with packages from pip that this environment lacks, for as long as it is needed.

    Its name is empty where pip could not get them.
    """
    with tempfile.TemporaryDirectory(dir=HOME, prefix="packages-") as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
        try:
            run([*pip, *filter(None, names)]) if any(names) else None
        except CommandError as error:
            print(error, file=sys.stderr)
            folder = ""
        yield folder


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
