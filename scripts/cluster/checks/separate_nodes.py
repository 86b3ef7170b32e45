"""Two nodes work as one: the bytes of `--jobs`, arrays copied once a node and gone afterwards."""

from collections.abc import Callable
from functools import partial

from cluster.commands import BY_PROCESSES, BY_WORKERS, SEEN, Commands, left_in
from cluster.corpus import write_corpus
from cluster.dask_nodes import (
    OWN_DISK,
    copies,
    copies_seen,
    open_gate,
    start_scheduler,
    start_workers,
    wait_for_workers,
)
from cluster.nodes import Node
from containers.report import Report
from containers.stack import wait_for

Nodes = dict[str, Node]


def separate_nodes(nodes: Nodes, report: Report) -> None:
    """Start a cluster, and have it do all three commands."""
    commands = Commands(nodes["login"])
    if not report.check("start", partial(start, nodes, report)):
        return
    for learner in ("one-vs-rest", "tree"):
        report.check(f"train: {learner}", partial(train, nodes, commands, report, learner))
    report.check("predict --output DIR", partial(predict, commands, report))
    report.check("evaluate", partial(evaluate, commands, report))


def start(nodes: Nodes, report: Report) -> None:
    """Data, scheduler, three workers; the nodes' addresses and disks."""
    write_corpus(SEEN)
    open_gate()
    start_scheduler(nodes["n1"])
    for name in ("n1", "n2"):
        start_workers(nodes[name])
    wait_for_workers(nodes["login"])
    disks = [nodes[name].run("stat", "-c", "%d", OWN_DISK, "/shared").split() for name in nodes]
    report.expect(len({own for own, _ in disks}) == len(nodes), "nodes have a /tmp in common")
    report.expect(len({shared for _, shared in disks}) == 1, "/shared is not the same")
    report.found("scheduler and a worker on n1, two workers on n2, a /tmp each, one /shared")


def train(nodes: Nodes, commands: Commands, report: Report, learner: str) -> None:
    """Train by processes of one node, then by the cluster."""
    expected = commands.trained(learner, f"{learner}-jobs", *BY_PROCESSES)
    with copies_seen(nodes["n1"], nodes["n2"]) as seen:
        done = commands.trained(learner, f"{learner}-cluster", *BY_WORKERS)
        wait_for(lambda: not _left(nodes), 10, "copies gone from both nodes")
    same_bytes(report, expected, done)
    report.expect(not left_in(f"{learner}-cluster"), "files left beside the model")
    for name, found in seen.items():
        twice = [copy for copy, inodes in found.items() if len(inodes) > 1]
        report.expect(bool(found), f"{name} copied nothing, or did nothing")
        report.expect(not twice, f"{name} copied {len(twice)} arrays more than once")
        report.found(f"{name}: {len(found)} arrays copied, each once, gone afterwards")


def predict(commands: Commands, report: Report) -> None:
    """Predict by both."""
    expected = commands.predicted("one-vs-rest-jobs", "labelled-jobs", *BY_PROCESSES)
    done = commands.predicted("one-vs-rest-jobs", "labelled-cluster", *BY_WORKERS)
    report.expect(expected == done, "other predictions")
    report.found(f"{len(done)} files, same bytes")


def evaluate(commands: Commands, report: Report) -> None:
    """Evaluate by both."""
    expected = commands.evaluated("one-vs-rest-jobs", "jobs.json", *BY_PROCESSES)
    done = commands.evaluated("one-vs-rest-jobs", "cluster.json", *BY_WORKERS)
    report.expect(expected == done, "another report")
    report.found(f"same report: {len(str(done)):,} characters")


def same_bytes(report: Report, expected: list[str], done: list[str]) -> None:
    """Note whether two models have the same arrays."""
    report.expect(bool(done) and expected == done, "another model")
    report.found(f"{len(done)} .npy files, same bytes")


def _left(nodes: Nodes) -> bool:
    return any(copies(nodes[name]) for name in ("n1", "n2"))


Check = Callable[[Nodes, Report], None]
