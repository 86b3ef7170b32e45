"""Run seeds of the simulation; a seed that breaks a promise is printed with how to replay it.

`python scripts/simulation/run.py --seeds 1000` tries 1000 seeds of every scenario in turns;
`--scenario models --seed 17` replays one, with its trace.
"""

import argparse
import os
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
from simulation.scenario import run_seed
from simulation.scenarios.catalogue import SCENARIOS
from simulation.world import Violation

CHUNK = 250


@dataclass(frozen=True)
class Broken:
    """A seed that broke a promise."""

    scenario: str
    seed: int
    what: str

    def __str__(self) -> str:
        replay = f"python scripts/simulation/run.py --scenario {self.scenario} --seed {self.seed}"
        return f"{self.what}\n  replay: {replay}"


def scenario_of(seed: int) -> str:
    """The scenario of a seed, where none is named: they take turns."""
    names = list(SCENARIOS)
    return names[seed % len(names)]


def broken_seeds(first: int, count: int, scenario: str = "") -> list[Broken]:
    """Those of so many seeds that broke a promise."""
    found = []
    for seed in range(first, first + count):
        name = scenario or scenario_of(seed)
        try:
            run_seed(SCENARIOS[name], seed)
        except Violation as broken:
            found.append(Broken(name, seed, str(broken)))
    return found


def on_all_cores(first: int, count: int, scenario: str = "", workers: int = 0) -> list[Broken]:
    """The same, by a process a core; says how far it is, so that it can go on from there."""
    begins = range(first, first + count, CHUNK)
    found: list[Broken] = []
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        sizes = [min(CHUNK, first + count - begin) for begin in begins]
        runs = pool.map(broken_seeds, begins, sizes, [scenario] * len(sizes))
        for begin, size, broken in zip(begins, sizes, runs, strict=True):
            found += broken
            for each in broken:
                print(each, flush=True)
            if (begin + size - first) % 1000 < CHUNK:
                print(f"seeds to {begin + size}: {len(found)} broke a promise", flush=True)
    return found


def replay(name: str, seed: int) -> int:
    """Run one seed and print its trace; 1 where it broke a promise."""
    try:
        trace = run_seed(SCENARIOS[name], seed)
    except Violation as broken:
        print("\n".join(broken.trace[-400:]))  # type: ignore[attr-defined]
        traceback.print_exception(broken)
        return 1
    print("\n".join(trace))
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", choices=[*SCENARIOS], default="")
    parser.add_argument("--seed", type=int, help="replay this one")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: one a core")
    options = parser.parse_args()
    if options.seed is not None:
        return replay(options.scenario or scenario_of(options.seed), options.seed)
    found = on_all_cores(options.first, options.seeds, options.scenario, options.workers)
    print(f"{options.seeds} seeds: {len(found)} broke a promise")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
