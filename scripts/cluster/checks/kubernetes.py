"""The DaskCluster of docs/cluster.md: checked by schemas, and its commands run as processes.

There is no cluster and no image here: nothing says that a pod would start.
"""

import json
import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import kubernetes_validate  # type: ignore[import-untyped]
import yaml
from cluster.checks.separate_nodes import Nodes, same_bytes
from cluster.commands import BY_PROCESSES, SEEN, Commands
from cluster.corpus import write_corpus
from cluster.dask_nodes import wait_for_workers
from cluster.dask_operator import Operator
from cluster.nodes import ADDRESSES, SHARED, Node
from cluster.page import dask_cluster
from containers.report import Report

VERSIONS = ("1.25", "1.30", kubernetes_validate.latest_version())
MADE = "made.json"
SERVICE = "labelserve-scheduler"
HEALTH = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=30).read())"


def resources(home: Path, report: Report) -> None:
    """Check the example, and keep what the operator makes of it."""
    report.check("schemas", partial(_check, home, report))


def _check(home: Path, report: Report) -> None:
    cluster = yaml.safe_load(dask_cluster())
    with TemporaryDirectory(dir=home, prefix="operator-") as folder:
        operator = Operator(Path(folder))
        faults = list(jsonschema.Draft202012Validator(operator.schema()).iter_errors(cluster))
        made = operator.made_of(cluster)
    for fault in faults:
        report.expect(False, f"{'/'.join(map(str, fault.path))}: {fault.message[:200]}")
    for resource in made:
        for version in VERSIONS:
            kubernetes_validate.validate(resource, version, strict=True)
    for pod in (made[0], made[2]):
        report.expect("command" in _container(pod), "the image would start labelserve instead")
    (home / MADE).write_text(json.dumps(made))
    report.found(
        f"DaskCluster by the schema of dask-kubernetes {operator.version}; its Deployments and "
        f"Service by those of Kubernetes {', '.join(VERSIONS)}"
    )


def processes(nodes: Nodes, home: Path, report: Report) -> None:
    """Run the commands of the pods on nodes."""
    report.check("commands of the pods", partial(_run, nodes, home, report))


def _run(nodes: Nodes, home: Path, report: Report) -> None:
    scheduler, _, worker = json.loads((home / MADE).read_text())
    names = f"{SERVICE} {SERVICE}.default.svc.cluster.local"
    for node in nodes.values():
        with (node.root / "etc/hosts").open("a") as hosts:
            hosts.write(f"{ADDRESSES['n1']} {names}\n")
        (node.root / "models").symlink_to(SHARED / "models")
    (SEEN / "models").mkdir()
    write_corpus(SEEN)
    for name, pod in (("n1", scheduler), ("n1", worker), ("n2", worker)):
        _start(nodes[name], _container(pod))
    commands = Commands(nodes["login"])
    expected = commands.trained("one-vs-rest", "expected", *BY_PROCESSES)
    address = f"tcp://{SERVICE}:8786"
    wait_for_workers(nodes["login"], 2, address)
    done = commands.trained("one-vs-rest", "models", "--cluster", address)
    same_bytes(report, expected, done)
    healthy = nodes["login"].run("python", "-c", HEALTH, f"http://{SERVICE}:8787/health")
    report.expect("ok" in healthy, f"/health says {healthy}")
    report.found("scheduler and two workers as processes, found by DASK_SCHEDULER_ADDRESS")


def _start(node: Node, container: dict[str, Any]) -> None:
    """A container's command with its environment, as a process."""
    env = {each["name"]: each["value"] for each in container.get("env", [])}
    if "DASK_WORKER_NAME" in env:  # the operator gives each worker another one
        env["DASK_WORKER_NAME"] += f"-{node.name}"
    command = [re.sub(r"\$\((\w+)\)", lambda n: env[n[1]], word) for word in container["command"]]
    node.start(*command, folder=Path("/"), env=env)


def _container(deployment: dict[str, Any]) -> dict[str, Any]:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)
