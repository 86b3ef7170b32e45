"""Evaluating 23,309 labels of which a document has 100 scores: exact, in time and memory."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import is_quick, machine
from bench.harness.sections import keep_figures, write_section

from app.arrays import Scores
from app.datasets.base import Record
from app.decisions.base import Basis
from app.decisions.decision import Decision
from app.evaluation import JudgedModel, evaluate
from app.labels import LabelIndex

LABELS, SCORED, TRUE = 23_309, 100, 5
SIZES = (1_000, 2_000) if is_quick() else (25_000, 50_000, 100_000)
NAMES = tuple(f"label-{column:05}" for column in range(LABELS))


class MadeUpScores:
    """Scores of 100 labels a document, drawn by its number; low columns are drawn more often."""

    labels = LabelIndex(NAMES)
    decision = effective_decision = Decision(np.full(LABELS, 0.5, np.float32), "cut")
    basis = Basis(LABELS)
    calibration: None = None
    hand_rules: None = None
    relabelling: None = None
    reads_documents = is_ready_made = False
    n_features = 0

    def __init__(self) -> None:
        self.seconds = 0.0

    def scores(self, documents: Sequence[str], *, jobs: int = 1) -> Scores:
        """An array as any learner gives it."""
        clock = time.process_time()
        scores = np.full((len(documents), LABELS), -np.inf, np.float32)
        for row, text in enumerate(documents):
            columns, rng = drawn(int(text))
            scores[row, columns] = rng.random(SCORED)
        self.seconds += time.process_time() - clock
        return scores


def drawn(number: int) -> tuple[Any, np.random.Generator]:
    """The scored columns of a document, and what draws its scores."""
    rng = np.random.default_rng(number)
    return (LABELS * rng.random(SCORED) ** 2).astype(np.int64), rng


def documents(n: int) -> Iterator[Record]:
    """Documents whose true labels are the first that have a score."""
    for number in range(n):
        true = sorted(set(drawn(number)[0][:TRUE].tolist()))
        yield Record(str(number), tuple(NAMES[column] for column in true), None, number + 1)


def measured(n: int) -> dict[str, Any]:
    """CPU milliseconds a document beside scoring, peak memory, and whether all is exact."""
    scorer = MadeUpScores()
    info = JudgedModel("made-up", "1", np.arange(LABELS)[::-1] % 2000, 100_000)
    clock = time.process_time()
    report = evaluate(scorer, documents(n), info=info).as_dict()
    seconds = time.process_time() - clock - scorer.seconds
    return {
        "documents": n,
        "ms": 1000 * seconds / n,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "is_exact": report["conventions"]["exact_curves"],
    }


def main() -> None:
    """Measure each size in a process of its own, print and write the section."""
    if sys.argv[-1].isdigit():
        print(json.dumps(measured(int(sys.argv[-1]))))
        return
    sizes = [_run(n) for n in SIZES]
    text = _section(sizes)
    print(text)
    write_section("many-labels", text)
    keep_figures("many-labels", sizes[-1])


def _run(n: int) -> dict[str, Any]:
    words = [sys.executable, *sys.argv, str(n)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _section(sizes: list[dict[str, Any]]) -> str:
    rows = [
        f"| {one['documents']:,} | {one['ms']:.2f} | {one['mb']:.0f} "
        f"| {'exact' if one['is_exact'] else 'approximated'} |"
        for one in sizes
    ]
    return "\n".join(
        [
            "## Evaluating 23,309 labels",
            "",
            f"{SCORED} made-up scores and about {TRUE} true labels a document, {LABELS:,} labels; "
            "the whole report. CPU time is that of reading and measuring, without scoring; peak "
            "memory is that of the process.",
            "",
            "| documents | CPU ms a document | peak MB | figures |",
            "|---|---|---|---|",
            *rows,
            "",
            f"{machine()}. Again: `.venv/bin/python scripts/bench/many_labels.py`.",
        ]
    )


if __name__ == "__main__":
    main()
