"""Vectorizing: texts → tf-idf rows, beside scikit-learn (the same matrix) and PECOS."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.alternating_runs import Candidate, run_alternately
from bench.harness.environment import is_quick
from bench.harness.sections import footer, keep_figures, write_section

NAMES = ["labelserve", "scikit_learn", "pecos"]
ROUNDS = ["fit_transform", "transform"]


def main() -> None:
    """Measure, print and write the section `vectorizing`."""
    turns = 2 if is_quick() else 7
    candidates = run_alternately("vectorize", NAMES, ROUNDS, turns)
    text = section(candidates, turns)
    print(text)
    write_section("vectorizing", text)
    figures = {one.name: {r: one.median(r, "cpu") for r in ROUNDS} for one in candidates}
    keep_figures("vectorizing", figures)


def section(candidates: list[Candidate], turns: int) -> str:
    """The section in Markdown."""
    ours = candidates[0]
    rows = []
    for other in candidates:
        if other.failure:
            rows.append(f"| {other.name} | did not run: {other.failure} | | | | |")
            continue
        cells = [
            f"{other.median(name, 'cpu'):.3f} | {other.median(name, 'wall'):.3f} "
            f"| {other.median(name, 'cpu') / ours.median(name, 'cpu'):.1f}×"
            for name in ROUNDS
        ]
        rows.append(f"| {other.name} | {' | '.join(cells)} |")
    return "\n".join(
        [
            "## Vectorizing",
            "",
            f"debtags: fit_transform of 24,192 texts, transform of 6,108; medians of {turns} turns "
            "taken alternately, one thread. scikit-learn's matrix is the same as ours (tested); "
            "PECOS splits at blanks only.",
            "",
            "| | fit_transform CPU s | wall s | ÷ ours | transform CPU s | wall s | ÷ ours (CPU) |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            footer(".venv/bin/python scripts/bench/run.py --only vectorize"),
        ]
    )


if __name__ == "__main__":
    main()
