"""The parts of a run: what each needs from pip beforehand, and its checks on three nodes.

Modules are imported where they are used: `--help` needs no package.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cluster.batch_system import SLURM_PROGRAMS
from cluster.nodes import Node
from cluster.sandbox import PROGRAMS
from containers.engine.command import CommandError, run
from containers.report import Report

JOBQUEUE = "CLUSTER_CHECK_JOBQUEUE"
"""Names the folder that has dask-jobqueue, where pip could get it."""


def needs(part: str) -> dict[str, str]:
    """Programs, and the Debian packages that have them."""
    return PROGRAMS | (SLURM_PROGRAMS if part == "slurm" else {})


@contextmanager
def prepared(part: str, logs: Path, report: Report) -> Iterator[None]:
    """What nodes cannot do, which no network leads out of."""
    if part == "kubernetes":
        from cluster.checks import kubernetes

        kubernetes.resources(logs, report)
        yield
    elif part == "slurm":
        with _from_pip("dask-jobqueue", logs) as os.environ[JOBQUEUE]:
            yield
    else:
        yield


def checked(part: str, nodes: dict[str, Node], logs: Path, report: Report) -> None:
    """Run a part's checks."""
    PARTS[part](nodes, logs, report)


def _nodes(nodes: dict[str, Node], logs: Path, report: Report) -> None:
    from cluster.checks import failing_nodes, separate_nodes

    separate_nodes.separate_nodes(nodes, report)
    failing_nodes.failing_nodes(nodes, report)


def _slurm(nodes: dict[str, Node], logs: Path, report: Report) -> None:
    from cluster.checks import slurm

    slurm.slurm(nodes, os.environ[JOBQUEUE], report)


def _kubernetes(nodes: dict[str, Node], logs: Path, report: Report) -> None:
    from cluster.checks import kubernetes

    kubernetes.processes(nodes, logs, report)


@contextmanager
def _from_pip(package: str, home: Path) -> Iterator[str]:
    """A folder with a package that this environment lacks; an empty name where pip fails."""
    with TemporaryDirectory(dir=home, prefix="packages-") as folder:
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder)
        try:
            run([*pip, package])
        except CommandError as error:
            print(error, file=sys.stderr)
            yield ""
            return
        yield folder


PARTS: dict[str, Callable[[dict[str, Node], Path, Report], None]] = {
    "nodes": _nodes,
    "slurm": _slurm,
    "kubernetes": _kubernetes,
}
