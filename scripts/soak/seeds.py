"""Many seeds of the simulation, many streams of bytes: see docs/reliability.md."""

import os
from pathlib import Path

from simulation.planted import PLANTS
from simulation.run import on_all_cores as on_all_seeds
from simulation.scenario import run_seed
from simulation.scenarios.catalogue import SCENARIOS
from simulation.world import Violation
from soak.findings import Findings
from streams.run import on_all_cores as on_all_streams

SEEDS, STREAMS, QUICK = 100_000, 20_000, 500
TO_FIND = 300
FIRST = "LABELSERVE_SOAK_FIRST"
"""The seed to go on from, where a run was broken off."""


def seeds(models: Path, folder: Path, quick: bool) -> Findings:
    """R31: promises, and planted faults."""
    first = int(os.environ.get(FIRST, "0"))
    count = QUICK if quick else SEEDS - first
    broken = on_all_seeds(first, count)
    missed = [] if quick else [fault for fault in PLANTS if not _is_found(fault)]
    words = [f"{count:,} seeds from {first:,}: {len(broken)} broke a promise"]
    if not quick:
        words.append(f"{len(PLANTS) - len(missed)} of {len(PLANTS)} planted faults found")
    return Findings(words, not broken and not missed)


def streams(models: Path, folder: Path, quick: bool) -> Findings:
    """Ours beside plain uvicorn."""
    counts, unexplained = on_all_streams(0, QUICK if quick else STREAMS)
    told = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.most_common())
    return Findings([told], not unexplained)


def _is_found(fault: str) -> bool:
    scenario, plant = PLANTS[fault]
    for seed in range(TO_FIND):
        try:
            run_seed(SCENARIOS[scenario], seed, plant)
        except Violation:
            return True
    return False
