"""Evaluation end to end: a file of 120,580 documents in, its figures out."""

import gzip
import itertools
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.alternating_runs import Candidate, run_alternately
from bench.harness.environment import (
    ROOT,
    WORK,
    data_folder,
    is_quick,
    program_environment,
)
from bench.harness.sections import footer, write_section

CORPUS, TRAINED_ON, DOCUMENTS = "arxiv-cs60k", 10_000, 6_029
COPIES = 1 if is_quick() else 20


def main() -> None:
    """Measure, print and write the section `evaluation`."""
    prepare()
    turns = 1 if is_quick() else 2
    candidates = run_alternately("evaluate", ["labelserve", "libmultilabel"], ["file"], turns)
    text = section(candidates, turns)
    print(text)
    write_section("evaluation", text)


def prepare() -> None:
    """Plain files for both sides, and our model; the other side trains its own."""
    WORK.mkdir(parents=True, exist_ok=True)
    folder = data_folder() / CORPUS
    with gzip.open(folder / "train.txt.gz", "rb") as file:
        lines = list(itertools.islice(file, TRAINED_ON))
    (WORK / "evaluated-train.txt").write_bytes(b"".join(lines))
    with gzip.open(folder / "test.txt.gz", "rb") as file:
        (WORK / "evaluated-test.txt").write_bytes(file.read() * COPIES)
    words = [sys.executable, "scripts/train.py", str(WORK / "evaluated-train.txt")]
    words += ["--model", "evaluated", "--models-dir", str(WORK / "models"), "--folds", "0"]
    words += ["--decision", "zero"]
    subprocess.run(words, check=True, cwd=ROOT, env=program_environment("labelserve"))


def section(candidates: list[Candidate], turns: int) -> str:
    """The section in Markdown."""
    size = (WORK / "evaluated-test.txt").stat().st_size / 1e6
    return "\n".join(
        [
            "## Evaluation end to end: file → figures",
            "",
            f"{CORPUS}'s test file {COPIES} times ({COPIES * DOCUMENTS:,} documents, {size:.0f} MB,"
            f" plain), one-vs-rest trained on the first {TRAINED_ON:,} training documents by each "
            "side's own defaults, cut at 0, "
            f"one thread, best of {turns} turns taken alternately. Ours reads, vectorizes, scores "
            "and gives the whole report (curves, partitions, every label), the other side its "
            "eight metrics in batches of 256, with the whole file's features in memory.",
            "",
            "| | documents a CPU second | CPU s | wall s | peak MB | micro-F1 | P@1 |",
            "|---|---|---|---|---|---|---|",
            *(_row(candidate) for candidate in candidates),
            "",
            footer(".venv/bin/python scripts/bench/run.py --only evaluate", ["libmultilabel"]),
        ]
    )


def _row(one: Candidate) -> str:
    if one.failure:
        return f"| {one.name} | did not run: {one.failure} | | | | | |"
    turns = one.measured["file"]
    cpu, wall = (min(turn[name] for turn in turns) for name in ("cpu", "wall"))
    rate = COPIES * DOCUMENTS / cpu
    return (
        f"| {one.name} | {rate:,.0f} | {cpu:.1f} | {wall:.1f} "
        f"| {turns[-1]['peak_mb']:.0f} | {turns[0]['micro_f1']:.4f} | {turns[0]['p1']:.4f} |"
    )


if __name__ == "__main__":
    main()
