"""Prediction in process: text → the five best labels, in batches and one document at a time."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.alternating_runs import Candidate, run_alternately
from bench.harness.debtags_model import prepare
from bench.harness.environment import is_quick
from bench.harness.sections import footer, keep_figures, write_section

COMMAND = ".venv/bin/python scripts/bench/run.py --only predict"
NAMES = ["labelserve", "scikit_learn", "pecos"]
SLOWER = ["libmultilabel", "omikuji", "napkinxc", "fasttext"]
SLOWER_WORK = (
    " LibMultiLabel, omikuji (3 trees) and napkinXC (PLT) work behind scikit-learn's vectorizer; "
    "fastText has its own features."
)
"""Peers that are trained first, which takes minutes: not in a quick run."""


def main() -> None:
    """Measure, print and write the sections `prediction` and `prediction-many-labels`."""
    turns, names = (2, NAMES) if is_quick() else (5, NAMES + SLOWER)
    prepare()
    candidates = run_alternately("predict", names, ["batch", "one"], turns)
    show("prediction", section(candidates, turns))
    figures = {
        one.name: {"batch": one.median("batch", "cpu"), "one": one.median("one", "cpu_us")}
        for one in candidates
    }
    keep_figures("prediction", figures)
    if not is_quick():
        trees = run_alternately("predict_tree", ["labelserve", "pecos"], ["one"], turns)
        show("prediction-many-labels", many_labels(trees, turns))
        keep_figures("prediction-many-labels", {one.name: one.medians("one") for one in trees})


def show(name: str, text: str) -> None:
    """Print a section and write it."""
    print(text, flush=True)
    write_section(name, text)


def many_labels(candidates: list[Candidate], turns: int) -> str:
    """The section on trees in Markdown."""
    rows = [
        f"| {one.name} | {one.failure or round(one.median('one', 'cpu_us'))} "
        f"| {one.median('one', 'p50_us'):.0f} | {one.median('one', 'p99_us'):.0f} |"
        for one in candidates
    ]
    return "\n".join(
        [
            "## Prediction among 23,309 labels: one text → the five best",
            "",
            "yso-en-mid, 1,000 test texts one by one; each side has its tree by default (ours: "
            f"three trees) and its vectorizer, beam 10, one thread; medians of {turns} turns taken "
            "alternately.",
            "",
            "| | CPU µs | p50 µs | p99 µs |",
            "|---|---|---|---|",
            *rows,
            "",
            footer(COMMAND),
        ]
    )


def section(candidates: list[Candidate], turns: int) -> str:
    """The section in Markdown."""
    ours = candidates[0]
    rows = [_row(other, ours) for other in candidates]
    return "\n".join(
        [
            "## Prediction in process: text → the five best labels",
            "",
            "debtags, 594 labels; batch: all 6,108 test texts at once; one: 1,000 of them one by "
            f"one; medians of {turns} turns taken alternately, one thread. scikit-learn has our "
            "weights as one dense float32 matrix. PECOS has its own vectorizer (blanks only) and "
            "one-vs-rest." + (SLOWER_WORK if len(candidates) > len(NAMES) else ""),
            "",
            "| | batch, CPU µs/text | ÷ ours | one, CPU µs | ÷ ours | p50 µs | p99 µs | peak MB |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            footer(COMMAND),
        ]
    )


def _row(other: Candidate, ours: Candidate) -> str:
    if other.failure:
        return f"| {other.name} | did not run: {other.failure} | | | | | | |"
    batch, own_batch = (1e6 * c.median("batch", "cpu") / 6108 for c in (other, ours))
    one, own_one = (c.median("one", "cpu_us") for c in (other, ours))
    p50, p99 = other.median("one", "p50_us"), other.median("one", "p99_us")
    peak = other.median("one", "peak_mb")
    return (
        f"| {other.name} | {batch:.1f} | {batch / own_batch:.1f}× | {one:.1f} "
        f"| {one / own_one:.1f}× | {p50:.1f} | {p99:.1f} | {peak:.0f} |"
    )


if __name__ == "__main__":
    main()
