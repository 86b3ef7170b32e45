"""Peers on Reuters: with their own decisions, and with cuts tuned as ours are.

    python scripts/bench/decisions/peers.py DATA_DIR [--only NAME ...]

With `--only`, these rows alone are measured anew; the others are those of the last time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from app.datasets.collection import load_collection
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.vectorizers.tfidf import Tfidf

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.alternating_runs import peer_command
from bench.harness.environment import WORK, program_environment
from bench.harness.sections import footer, write_section

OWN_CUT = {
    "1vsrest": "LibMultiLabel, one-vs-rest",
    "thresholding": "LibMultiLabel, thresholding",
    "cost_sensitive": "LibMultiLabel, cost-sensitive",
    "cost_sensitive_micro": "LibMultiLabel, cost-sensitive-micro",
}
NO_CUT = {
    "pecos-one-vs-rest": "PECOS one-vs-rest",
    "pecos-tree": "PECOS tree",
    "omikuji": "omikuji, 3 trees",
}
NAMES = {"labelserve": "labelserve, one-vs-rest", **OWN_CUT, **NO_CUT}
KEPT = WORK / "decisions-peers.json"


def main() -> None:
    """Run every peer on the same features; print and write the section."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--only", nargs="+", choices=list(NAMES), default=list(NAMES))
    given = arguments.parse_args()
    rows: dict[str, str] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, line in measured(given.data / "reuters", given.only):
        print(line, flush=True)
        rows[name] = line
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps(rows))
        write_section("decisions-peers", _section([rows[n] for n in NAMES if n in rows]))


def measured(folder: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """A row of the table for each of the names."""
    corpus, test = (load_collection(folder / f"{part}.txt.gz") for part in ("train", "test"))
    labels = LabelIndex.of(corpus.label_sets)
    truth, test_truth = labels.truth(corpus.label_sets), labels.truth(test.label_sets).toarray()
    vectorizer = Tfidf()
    rows = vectorizer.fit_transform(corpus.documents)
    test_rows = vectorizer.transform(test.documents)
    folds = stratified_folds(truth, 5, seed=0)
    if "labelserve" in names:
        yield "labelserve", _ours(rows, truth, folds, test_rows, test_truth)
    with tempfile.TemporaryDirectory() as place:
        given = Path(place) / "given.npz"
        _write(given, rows, test_rows, truth, folds)
        for name in names:
            if name != "labelserve":
                yield name, _row(NAMES[name], _scores(name, given), truth, test_truth)


def _ours(rows: Any, truth: Any, folds: Any, test_rows: Any, test_truth: Any) -> str:
    learner, held_out = fit_with_out_of_fold(OneVsRest(), rows, truth, folds, Fitting())
    found = {"held_out": held_out.scores, "test": learner.scores(test_rows)}
    return _row(NAMES["labelserve"], found, truth, test_truth)


def _scores(name: str, given: Path) -> dict[str, Any] | None:
    wanted = given.with_name(f"{name}.npz")
    command = [*peer_command("decide", "scores"), name, str(given), str(wanted)]
    env = program_environment(name)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        print(name, done.stderr[-500:])
        return None
    return dict(np.load(wanted))


def _row(shown: str, found: dict[str, Any] | None, truth: Any, test_truth: Any) -> str:
    if found is None:
        return f"| {shown} | did not run | |"
    own = _figures(found["test"] > 0, test_truth) if shown not in NO_CUT.values() else "has no cut"
    if not found["held_out"].size:
        return f"| {shown} | {own} | |"
    held_out = HeldOut.of(found["held_out"], truth)
    decision = tune("micro-f", held_out, Hulls.of(held_out))
    return f"| {shown} | {own} | {_figures(decision.decide(found['test']), test_truth)} |"


def _figures(marks: Any, truth: Any) -> str:
    tp, total = (marks & truth).sum(0), marks.sum(0) + truth.sum(0)
    each = 2 * tp / np.maximum(total, 1)
    return f"{2 * tp.sum() / total.sum():.3f} / {each.mean():.3f}"


def _write(place: Path, rows: csr_array, test_rows: csr_array, truth: Any, folds: Any) -> None:
    arrays = {"truth": truth.toarray(), "folds": folds.parts}
    for prefix, matrix in (("", rows), ("test_", test_rows)):
        arrays |= {
            f"{prefix}values": matrix.data,
            f"{prefix}columns": matrix.indices,
            f"{prefix}starts": matrix.indptr,
            f"{prefix}shape": np.array(matrix.shape),
        }
    np.savez(place, **arrays)


def _section(lines: list[str]) -> str:
    return "\n".join(
        [
            "## Cuts, ours and the peers'",
            "",
            "Reuters test set, micro-F1 / macro-F1; the same plain tf-idf features for all, C = 1, "
            "and for `micro-f` the same five folds.",
            "",
            "| | own decision | cut by our `micro-f` |",
            "|---|---|---|",
            *lines,
            "",
            footer(".venv/bin/python scripts/bench/decisions/peers.py DATA_DIR"),
        ]
    )


if __name__ == "__main__":
    main()
