"""Every metric on 20,000 × 4,000 scores beside scikit-learn's for those that it has too."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import is_quick, machine
from bench.harness.sections import write_section

from app.metrics.suite import suite

DOCUMENTS, LABELS, TRUE = (1_000 if is_quick() else 20_000), 4_000, 5
AVERAGES = ("micro", "macro", "weighted", "samples")


def arrays() -> tuple[Any, Any, Any]:
    """Scores, truth (dense) and decisions of a system that is often right."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((DOCUMENTS, LABELS), dtype=np.float32)
    scores -= 3  # in place: the peak of memory is to be that of the suite
    truth = np.zeros(scores.shape, np.bool_)
    truth[np.arange(DOCUMENTS)[:, None], rng.integers(0, LABELS, (DOCUMENTS, TRUE))] = True
    scores[truth] += 2.5
    return scores, truth, scores > 0


def ours() -> dict[str, Any]:
    """CPU seconds of the whole suite, the memory it added, and some figures to compare."""
    scores, truth, marks = arrays()
    sparse = csr_array(truth)
    before = _resident()
    start = time.process_time()
    found = suite(scores, sparse, marks)
    seconds = time.process_time() - start
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    precisions = [value or 0.0 for value in found["average_precision"]]
    figures = {
        "micro-F1": found["decisions"]["micro"]["f1"],
        "macro-F1": found["decisions"]["macro"]["f1"],
        "LRAP": found["ranking"]["lrap"],
        "ranking loss": found["ranking"]["ranking_loss"],
        "NDCG@5": found["ranking"]["NDCG@5"],
        "mean average precision": float(np.mean(precisions)),
    }
    return {"seconds": {"the whole suite": seconds}, "megabytes": added, "figures": figures}


def _resident() -> int:
    """Kilobytes this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def theirs() -> dict[str, Any]:
    """CPU seconds of each scikit-learn function, and the same figures."""
    import sklearn.metrics as sk

    scores, truth, marks = arrays()
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
        return result

    found: dict[str, Any] = {}
    for average in AVERAGES:
        options: dict[str, Any] = {"average": average, "zero_division": 0}
        found[average] = timed(
            "precision_recall_fscore_support × 4",
            partial(sk.precision_recall_fscore_support, truth, marks, **options),
        )
        timed("jaccard_score × 4", partial(sk.jaccard_score, truth, marks, **options))
    timed("hamming_loss", lambda: sk.hamming_loss(truth, marks))
    timed("accuracy_score", lambda: sk.accuracy_score(truth, marks))
    lrap = timed(
        "label_ranking_average_precision_score",
        lambda: sk.label_ranking_average_precision_score(truth, scores),
    )
    timed("coverage_error", lambda: sk.coverage_error(truth, scores))
    loss = timed("label_ranking_loss", lambda: sk.label_ranking_loss(truth, scores))
    for k in (1, 3, 5):
        ndcg = timed(
            "ndcg_score × 3 (ignore_ties)",
            partial(sk.ndcg_score, truth, scores, k=k, ignore_ties=True),
        )
    ap = timed("average_precision_score", lambda: sk.average_precision_score(truth, scores))
    figures = {
        "micro-F1": float(found["micro"][2]),
        "macro-F1": float(found["macro"][2]),
        "LRAP": float(lrap),
        "ranking loss": float(loss),
        "NDCG@5": float(ndcg),
        "mean average precision": float(ap),
    }
    return {"seconds": seconds, "figures": figures}


def main() -> None:
    """Run each side in a process of its own, compare, and write the section."""
    if sys.argv[-1] in ("ours", "theirs"):
        print(json.dumps(ours() if sys.argv[-1] == "ours" else theirs()))
        return
    first, other, second = _run("ours"), _run("theirs"), _run("ours")
    mine = min((first, second), key=lambda one: one["seconds"]["the whole suite"])
    mine["megabytes"] = max(first["megabytes"], second["megabytes"])
    for name, value in other["figures"].items():
        assert abs(mine["figures"][name] - value) < 1e-9, name  # noqa: S101
    total = sum(other["seconds"].values())
    seconds = mine["seconds"]["the whole suite"]
    rows = [f"| scikit-learn: {name} | {value:.2f} |" for name, value in other["seconds"].items()]
    write_section("metrics", _section(rows, seconds, total, mine["megabytes"]))
    print(f"{seconds:.2f} s of {total:.1f} s: 1/{total / seconds:.0f}; {mine['megabytes']:.0f} MB")


def _section(rows: list[str], seconds: float, total: float, megabytes: float) -> str:
    import scipy
    import sklearn

    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn"
    return "\n".join(
        [
            "## Metrics",
            f"{DOCUMENTS:,} documents × {LABELS:,} labels, {TRUE} true labels a document, dense "
            "float32 scores; CPU seconds on one core, the same figures to 1e-9 on both sides. Ours "
            "is every ranking and decision figure of docs/metrics.md (propensities apart), "
            "break-even and each label's average precision; the other is what scikit-learn has.",
            "",
            "| | CPU s |",
            "|---|---|",
            f"| labelserve, the whole suite | {seconds:.2f} |",
            *rows,
            f"| scikit-learn, all of these | {total:.1f} |",
            "",
            f"Ratio 1/{total / seconds:.0f}; beyond its input arrays the suite took "
            f"{megabytes:.0f} MB. {machine()}, {versions} "
            f"{sklearn.__version__}. Again: `.venv/bin/python scripts/bench/metrics.py`.",
        ]
    )


def _run(side: str) -> dict[str, Any]:
    words = [sys.executable, "-W", "ignore", *sys.argv, side]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
