"""Promises hold for every seed, the same seed gives the same run, and planted faults are found."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from simulation.disk import Disk, Node
from simulation.planted import PLANTS
from simulation.run import broken_seeds, scenario_of
from simulation.scenario import run_seed
from simulation.scenarios.catalogue import SCENARIOS
from simulation.world import Violation

SEEDS = 300
RUN = Path(__file__).parents[2] / "scripts" / "simulation" / "run.py"
TAKE_LONG = {
    "ids of removed versions forgotten",
    "a version removed under its name",
    "a try that is not fenced by its token",
    "the pointer written in place",
}
"""Planted faults that take a hundred seeds or more to find: `make soak` looks for them."""
ONCE_BROKEN = [
    ("models", 4),
    ("models", 5),
    ("models", 40),
    ("models", 138),
    ("models", 214),
    ("keys", 1),
    ("keys", 6),
    ("keys", 19),
    ("spool", 0),
    ("usage", 3),
    ("evaluations", 0),
    ("evaluations", 8),
    ("evaluations", 137),
    ("evaluations", 102),
]
"""Seeds that broke a promise when they were first tried. Scenarios have grown since, so that a
seed is no replay of what it found then: docs/reliability.md tells that."""


def test_no_seed_breaks_a_promise() -> None:
    broken = broken_seeds(0, SEEDS)
    assert broken == [], "\n".join(map(str, broken))


@pytest.mark.parametrize(("scenario", "seed"), ONCE_BROKEN)
def test_a_seed_that_once_broke_a_promise_breaks_none(scenario: str, seed: int) -> None:
    run_seed(SCENARIOS[scenario], seed)


@pytest.mark.parametrize("fault", [fault for fault in PLANTS if fault not in TAKE_LONG])
def test_a_planted_fault_is_found(fault: str) -> None:
    scenario, plant = PLANTS[fault]
    for seed in range(SEEDS):
        try:
            run_seed(SCENARIOS[scenario], seed, plant)
        except Violation:
            return
    pytest.fail(f"{SEEDS} seeds did not find: {fault}")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_seed_gives_the_same_run_again(scenario: str) -> None:
    for seed in range(3):
        assert run_seed(SCENARIOS[scenario], seed) == run_seed(SCENARIOS[scenario], seed)


def test_the_command_replays_a_seed_in_another_process() -> None:
    trace = run_seed(SCENARIOS[scenario_of(7)], 7)
    command = [sys.executable, str(RUN), "--seed", "7"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.splitlines() == [line for each in trace for line in each.splitlines()]


def test_what_was_not_synced_may_be_lost_or_torn_and_what_was_synced_is_there(
    tmp_path: Path,
) -> None:
    found = set()
    for seed in range(200):
        disk = Disk(tmp_path)
        kept, lost = Node(is_folder=False), Node(is_folder=False)
        for name, node in (("kept", kept), ("lost", lost)):
            disk.add(disk.top, name, node)
            node.content += b"12345678"
        disk.sync(kept)
        disk.sync(disk.top)
        disk.rename(disk.top, "kept", disk.top, "renamed")
        disk.cut_power(Random(seed))
        names = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert len(names) == 2
        assert names.get("kept", names.get("renamed")) == b"12345678"
        found.add(("kept" in names, names["lost"]))
    assert {is_old for is_old, _ in found} == {True, False}
    assert {b"", b"12345678", b"\0" * 8} < {content for _, content in found}
