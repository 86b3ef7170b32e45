"""A node cut off or dead, the scheduler dead: the same bytes, or an error and --resume."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from cluster.checks.separate_nodes import Nodes, same_bytes
from cluster.commands import BY_WORKERS, Commands, arrays, left_in, said
from cluster.dask_nodes import (
    close_gate,
    copies,
    open_gate,
    seconds_until_ended,
    start_scheduler,
    start_workers,
    wait_at_gate,
    wait_for_workers,
)
from cluster.nodes import Node
from containers.report import Report
from containers.stack import wait_for

LEARNER = "one-vs-rest"
EXPECTED = f"{LEARNER}-jobs"
SHORT = 5
"""Seconds: less than Dask waits for a silent connection (distributed.comm.timeouts.tcp, 30)."""
LONG = 150


def failing_nodes(nodes: Nodes, report: Report) -> None:
    """Every failure in the middle of a training, while a task waits on n2."""
    commands = Commands(nodes["login"])
    for name, check in {
        "n2 cut off for 5 s": partial(cut_briefly, nodes, commands, report),
        "n2 cut off, healed after the end": partial(cut_to_the_end, nodes, commands, report),
        "n2 switched off": partial(switched_off, nodes, commands, report),
        "the command cut off": partial(command_cut_off, nodes, commands, report),
        "n1, with the scheduler, switched off": partial(without_scheduler, nodes, commands, report),
    }.items():
        report.check(name, check)


def cut_briefly(nodes: Nodes, commands: Commands, report: Report) -> None:
    """Nothing is lost: the connections outlive it."""
    with interrupted(commands, "brief") as training:
        nodes["n2"].cut()
        open_gate()
        time.sleep(SHORT)
        nodes["n2"].heal()
        seconds_until_ended(training, time.monotonic(), LONG)
    finished(report, training, "brief")


def cut_to_the_end(nodes: Nodes, commands: Commands, report: Report) -> None:
    """n1 does the tasks of n2 once the scheduler has given it up; then n2 comes back."""
    with interrupted(commands, "cut") as training:
        nodes["n2"].cut()
        took = seconds_until_ended(training, time.monotonic(), LONG)
        report.found(f"done by n1 alone {took:.0f} s after the cut")
        finished(report, training, "cut")
        open_gate()  # what n2 still does, it does for nobody
        nodes["n2"].heal()
    took = wait_for(lambda: not has_workers(nodes["n2"]), LONG, "n2's workers end themselves")
    report.found(f"n2's workers ended themselves, at the latest {took:.0f} s after it was healed")
    start_workers(nodes["n2"])
    wait_for_workers(nodes["login"])
    report.expect(not left_in("cut"), "n2 wrote files for a training that has ended")
    same_bytes(report, arrays(EXPECTED), commands.trained(LEARNER, "again", *BY_WORKERS))
    report.expect(not copies(nodes["n2"]), "copies stayed on n2")


def switched_off(nodes: Nodes, commands: Commands, report: Report) -> None:
    """n1 does all; a new n2 is started in its place."""
    with interrupted(commands, "off") as training:
        nodes["n2"].die()
        took = seconds_until_ended(training, time.monotonic(), LONG)
    report.found(f"done by n1 alone {took:.0f} s later")
    finished(report, training, "off")
    nodes["n2"] = nodes["n2"].booted_again()
    start_workers(nodes["n2"])
    wait_for_workers(nodes["login"])


def command_cut_off(nodes: Nodes, commands: Commands, report: Report) -> None:
    """The command ends with an error; --resume goes on."""
    with interrupted(commands, "alone") as training:
        nodes["login"].cut()
        took = seconds_until_ended(training, time.monotonic(), LONG)
        nodes["login"].heal()
    told(report, training, "alone", took)
    resumed(commands, report, "alone")


def without_scheduler(nodes: Nodes, commands: Commands, report: Report) -> None:
    """The command ends with an error; --resume goes on with a new scheduler and what there is."""
    with interrupted(commands, "headless") as training:
        nodes["n1"].die()
        took = seconds_until_ended(training, time.monotonic(), LONG)
    told(report, training, "headless", took)
    nodes["n1"] = nodes["n1"].booted_again()
    start_scheduler(nodes["n1"])
    start_workers(nodes["n1"])
    wait_for_workers(nodes["login"], 1)
    resumed(commands, report, "headless")


@contextmanager
def interrupted(commands: Commands, models: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A training that waits for n2 when the block begins; n2 goes on when it ends."""
    close_gate()
    training = commands.begin(LEARNER, models, *BY_WORKERS)
    try:
        wait_at_gate(training)
        yield training
    finally:
        open_gate()


def finished(report: Report, training: "subprocess.Popen[bytes]", models: str) -> None:
    """Note whether a training ended well, with the bytes of --jobs."""
    report.expect(training.returncode == 0, f"failed: {last_words(models)}")
    if training.returncode == 0:
        same_bytes(report, arrays(EXPECTED), arrays(models))


def told(report: Report, training: "subprocess.Popen[bytes]", models: str, seconds: float) -> None:
    """Note what a training said that could not go on."""
    report.expect(training.returncode == 1, f"exit code {training.returncode}")
    words = last_words(models)
    report.expect("--resume" in words, f"no way out told: {words}")
    report.found(f"after {seconds:.0f} s: `{words}`")


def resumed(commands: Commands, report: Report, models: str) -> None:
    """Go on with --resume."""
    same_bytes(report, arrays(EXPECTED), commands.trained(LEARNER, models, *BY_WORKERS, "--resume"))
    report.expect(not left_in(models), "files left beside the model")


def last_words(models: str) -> str:
    """The last line that a training wrote."""
    lines = said(models).read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "nothing"


def has_workers(node: Node) -> bool:
    """Whether a worker, or what would start it again, still runs."""
    return not node.tried("pgrep", "-f", "dask worker")[1]
