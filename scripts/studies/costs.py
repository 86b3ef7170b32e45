"""Which cuts cost least on documents they were not tuned on? As scripts/studies/cuts.py asks for F.

python scripts/studies/costs.py DATA_DIR [--folds 3]
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.decision import Decision
from app.decisions.tuning.bagged_cuts import bagged_cuts
from app.decisions.tuning.cost import cost_vertices
from app.decisions.tuning.held_out_figures import held_out_counts
from app.metrics.costs import ErrorCosts

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section
from studies.cuts import CORPORA, SPLITS, Case, calibrated_at, cases, stored

COSTS = ((5.0, 1.0), (1.0, 1.0), (1.0, 5.0), (1.0, 20.0))
"""Of a wrong one and of a missed one."""

CostCutter = Callable[[Case, float, float], NDArray[np.float32]]
Found = dict[tuple[str, str], list[float]]


def tuned(**options: Any) -> CostCutter:
    """The tuner of the product."""

    def cut(case: Case, wrong: float, missed: float) -> NDArray[np.float32]:
        return stored("cost", wrong=wrong, missed=missed, **options)(case)

    return cut


def by_ranks(case: Case, wrong: float, missed: float) -> NDArray[np.float32]:
    """Bagged, with ranks averaged themselves and not their logarithms."""
    costs = ErrorCosts(wrong, missed)
    exact = case.hulls.cuts[cost_vertices(case.hulls, costs)]
    prices = np.full(case.hulls.n_labels, costs.prices)
    return bagged_cuts(case.tuned_on, exact, prices, resamples=100, seed=0)


def calibrated(case: Case, wrong: float, missed: float) -> Any:
    """Where the label's probability is the share from which assigning pays."""
    return calibrated_at(case, wrong / (wrong + missed))


def shrunk(case: Case, wrong: float, missed: float) -> Any:
    """The product's cuts shrunk to the calibrated ones with weight 10 / (10 + positives)."""
    own, other = tuned()(case, wrong, missed), calibrated(case, wrong, missed)
    own, n = np.where(np.isfinite(own), own, other), case.hulls.positives
    return np.asarray((n * own + 10 * other) / (n + 10), np.float32)


TRIED: dict[str, CostCutter] = {
    "micro-f": lambda case, wrong, missed: stored("micro-f")(case),
    "exact (`resamples=0`)": tuned(resamples=0),
    "**cost** (default: 100 resamples)": tuned(),
    "… averaged by rank, not its logarithm": by_ranks,
    "calibrated cut alone": calibrated,
    "cost, shrunk to it, 10/(10+n)": shrunk,
}


def measured(case: Case, found: Found, corpus: str) -> None:
    """Add what the errors of every way cost a document of the outer fold."""
    for wrong, missed in COSTS:
        for name, cut in TRIED.items():
            decision = Decision(cut(case, wrong, missed), "studied")
            counts = held_out_counts(decision, case.judged_on)
            total = ErrorCosts(wrong, missed).of(counts[:, 1], counts[:, 2]).sum()
            key = f"{corpus} {wrong:g}:{missed:g}"
            found[name, key].append(float(total) / case.judged_on.n_documents)


def main() -> None:
    """Print and store the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--folds", type=int, default=3, choices=range(1, SPLITS + 1))
    given = arguments.parse_args()
    found: Found = defaultdict(list)
    for corpus in CORPORA:
        for case in cases(given.data / corpus, {"scheme": "log"}, given.folds):
            measured(case, found, corpus)
    print(table(found))
    write_section("costs-study", section(given.folds, found))


def section(n_folds: int, found: Found) -> str:
    """The section in Markdown."""
    return "\n".join(
        [
            "## Which cuts cost least on other documents",
            "",
            "Cross-validation inside training data, as for F1 above: what the errors cost a "
            f"document of the fifth left out, means of {n_folds} parts, for the costs of a wrong "
            "and of a missed label (5:1, …).",
            "",
            table(found),
            "",
            f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/costs.py DATA_DIR "
            f"--folds {n_folds}`, DATA_DIR with a folder a corpus.",
        ]
    )


def table(found: Found) -> str:
    """One row a corpus and pair of costs, one column a way."""
    rows = [f"| {' | '.join(['', *TRIED])} |", "|---" * (len(TRIED) + 1) + "|"]
    for key in dict.fromkeys(key for _, key in found):
        means = [f"{np.mean(found[name, key]):.4f}" for name in TRIED]
        rows.append(f"| {' | '.join([key, *means])} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
