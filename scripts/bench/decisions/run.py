"""Decisions: how long tuning takes, and what default models reach on test sets.

    python scripts/bench/decisions/run.py speed
    python scripts/bench/decisions/run.py sweeps DATA_DIR
    python scripts/bench/decisions/run.py test DATA_DIR [--seeds 3] [--only reuters]

`test` is for the end. Settings were chosen on training data; what operating points promise was
studied on random splits of train and test data together (scripts/studies/promises.py).
DATA_DIR has a folder a corpus.
"""

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from app.classifier import Classifier
from app.datasets.collection import Collection, load_collection
from app.decisions.calibration.calibration import Calibration, sigmoid
from app.decisions.expectation.estimate import estimated_expectations
from app.decisions.tuning.hulls import Hulls, points
from app.decisions.tuning.tune import tune
from app.errors import UnattainableError
from app.heldout import HeldOut
from app.kernels import warm
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.metrics.calibration import LOWEST, Reliability, expected_calibration_error
from app.training.recipe import Recipe
from app.training.train import TrainingJob, train
from app.vectorizers.tfidf import Tfidf

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.environment import machine
from bench.harness.sections import write_section

WORDS = {"learner": "one-vs-rest"}
PAIRS = {
    "learner": "one-vs-rest",
    "settings": {"options": "-s 1 -c 2"},
    "features": {"ngram_range": [1, 2], "min_df": 2},
}
CHARACTERS = {
    "learner": "one-vs-rest",
    "features": {"analyzer": "char_wb", "ngram_range": [3, 5], "min_df": 3},
}
ENSEMBLE = {"members": [WORDS, PAIRS, CHARACTERS]}
ROWS = {
    "reuters": ("reuters", Recipe()),
    "debtags": ("debtags", Recipe()),
    "ohsumed": ("ohsumed", Recipe()),
    "go_emotions": ("go_emotions", Recipe()),
    "reuters-ensemble": ("reuters", Recipe.from_tables(ENSEMBLE)),
}
KEPT = Path(__file__).parents[2] / ".cache" / "bench" / "decisions-test.json"


def speed() -> None:
    """Time every step of tuning on 20,000 documents with 4,000 labels."""
    random = np.random.default_rng(0)
    scores = random.standard_normal((20_000, 4_000), dtype=np.float32)
    parts = np.array_split(scores, 100)
    truth = vstack([csr_array(3 * p + random.logistic(size=p.shape) > 10) for p in parts])
    held_out = HeldOut.of(scores, truth)
    hulls = Hulls.of(held_out)
    rows: list[tuple[str, float, float]] = []
    steps: dict[str, Any] = {
        "hulls": lambda: Hulls.of(held_out),
        "micro-f, exact maximum and 100 resamples": lambda: tune("micro-f", held_out, hulls),
        "expectations": lambda: estimated_expectations(held_out),
        "calibration": lambda: Calibration.fit(held_out),
    }
    for name, step in steps.items():
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        rows.append((name, time.process_time() - cpu, time.perf_counter() - wall))
    rows.append(("together", sum(r[1] for r in rows), sum(r[2] for r in rows)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = [f"| {name} | {cpu:.1f} | {wall:.1f} |" for name, cpu, wall in rows]
    text = [
        "## Tuning 20,000 documents × 4,000 labels",
        "",
        f"{truth.nnz:,} true pairs, {len(hulls.fp):,} hull vertices; peak memory {peak:,.0f} MB, "
        "the scores (320 MB) and the drawing of them included. One thread.",
        "",
        "| step | CPU s | wall s |",
        "|---|---|---|",
        *table,
        "",
        f"{machine()}. Reproduce: `.venv/bin/python scripts/bench/decisions/run.py speed`.",
    ]
    write_section("decisions-speed", "\n".join(text))
    print("\n".join(text))


def sweeps(data: Path) -> None:
    """Count the sweeps of Pillai's Algorithm 1 on Reuters' out-of-fold scores."""
    corpus = load_collection(data / "reuters" / "train.txt.gz")
    truth = LabelIndex.of(corpus.label_sets).truth(corpus.label_sets)
    rows = Tfidf(scheme="log").fit_transform(corpus.documents)
    folds = stratified_folds(truth, 5, seed=0)
    _, held_out = fit_with_out_of_fold(OneVsRest(), rows, truth, folds, Fitting())
    lists = [points(column) for column in held_out.columns()]
    at = [len(one.tp) - 1 for one in lists]
    n_sweeps, has_moved = 0, True
    while has_moved:
        has_moved, n_sweeps = False, n_sweeps + 1
        for label, one in enumerate(lists):
            tp = sum(int(lists[i].tp[k]) for i, k in enumerate(at)) - one.tp[at[label]]
            fp = sum(int(lists[i].fp[k]) for i, k in enumerate(at)) - one.fp[at[label]]
            values = 2 * (tp + one.tp) / (tp + one.tp + fp + one.fp + truth.nnz)
            best = int(np.argmax(values))
            if values[best] > values[at[label]]:
                at[label], has_moved = best, True
    print(f"Algorithm 1: {n_sweeps} sweeps, micro-F1 {values[at[label]]:.6f} on held-out scores")


def test(data: Path, n_seeds: int, only: str | None) -> None:
    """Train with defaults, seed by seed, and measure on the test sets.

    With `only`, that row alone is measured anew; the others are those of the last time.
    """
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, (corpus, recipe) in ROWS.items():
        if only in (None, name):
            kept[name] = _measured(name, data / corpus, recipe, n_seeds)
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps(kept))
    shown = [kept[name] for name in ROWS if name in kept]
    text = [
        "## Default models on test sets",
        "",
        f"`scripts/train.py DATA --model NAME --quality fast`, means of {n_seeds} seeds, pruning "
        "included. ECE: expected calibration error over pairs with probability ≥ .1, 15 bins of "
        "equal mass. The ensemble: words; words and pairs of words (C = 2); character 3–5-grams.",
        "",
        "| | micro-F1 | macro-F1 | macro-F1 in test | ECE | ECE of σ(score) | CPU s to train |",
        "|---|---|---|---|---|---|---|",
        *(one["row"] for one in shown),
        "",
        "Operating points, seed 0: asked for, expected, and found on the test set.",
        "",
        "| | asked for | expected precision / recall | test precision / recall |",
        "|---|---|---|---|",
        *(line for one in shown for line in one["points"]),
        "",
        f"{machine()}. Reproduce: `.venv/bin/python scripts/bench/decisions/run.py test DATA_DIR`.",
    ]
    write_section("decisions-test", "\n".join(text))
    print("\n".join(text))


def _measured(name: str, folder: Path, recipe: Recipe, n_seeds: int) -> dict[str, Any]:
    data, held = load_collection(folder / "train.txt.gz"), load_collection(folder / "test.txt.gz")
    found: list[list[float]] = []
    points: list[str] = []
    warm()
    for seed in range(n_seeds):
        start = time.process_time()
        classifier = train(TrainingJob(data, recipe, seed=seed)).classifier
        seconds = time.process_time() - start
        scores, truth = _scored(classifier, held)
        marks = classifier.decision.decide(scores)
        errors = _errors(classifier, scores, truth)
        found.append([*_figures(marks, truth), *errors, seconds])
        points = points or _points(name, classifier, scores, truth)
        print(name, seed, np.round(found[-1], 4), flush=True)
    *figures, seconds = np.mean(found, axis=0)
    cells = [name, *(f"{value:.4f}" for value in figures), f"{seconds:.1f}"]
    return {"row": f"| {' | '.join(cells)} |", "points": points}


def _scored(classifier: Classifier, held: Collection) -> tuple[Any, Any]:
    chunks = [held.documents[start : start + 512] for start in range(0, len(held), 512)]
    scores = np.concatenate([classifier.scores(chunk) for chunk in chunks])
    return scores, classifier.labels.truth(held.label_sets).toarray()


def _figures(marks: Any, truth: Any) -> list[float]:
    tp, assigned, positives = (marks & truth).sum(0), marks.sum(0), truth.sum(0)
    each = 2 * tp / np.maximum(assigned + positives, 1)
    micro = 2 * tp.sum() / (assigned + positives).sum()
    return [micro, each.mean(), each[positives > 0].mean()]


def _errors(classifier: Classifier, scores: Any, truth: Any) -> list[float]:
    assert classifier.calibration is not None  # noqa: S101
    found = []
    for likely in (classifier.calibration.probabilities(scores), sigmoid(scores.astype("f8"))):
        reliability, counted = Reliability(), likely >= LOWEST
        reliability.add(likely[counted].astype("f4"), truth[counted])
        found.append(expected_calibration_error(reliability.bins()) or 0.0)
    return found


def _points(name: str, classifier: Classifier, scores: Any, truth: Any) -> list[str]:
    assert classifier.operating_points is not None  # noqa: S101
    rows = []
    for asked in ("precision>=0.9", "recall>=0.9", "f1"):
        try:
            point = classifier.operating_points.find(asked)
        except UnattainableError as error:
            rows.append(f"| {name} | {asked} | {error} | |")
            continue
        marks = scores > point.cuts
        tp = (marks & truth).sum()
        expected = " / ".join(f"{figure:.3f}" for figure in point.expected or ())
        rows.append(
            f"| {name} | {asked} | {expected} | {tp / marks.sum():.3f} / {tp / truth.sum():.3f} |"
        )
    return rows


def main() -> None:
    """Run the part that was asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("part", choices=["speed", "sweeps", "test"])
    arguments.add_argument("data", type=Path, nargs="?", default=Path("data"))
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--only", choices=list(ROWS), help="test: this row alone")
    given = arguments.parse_args()
    if given.part == "speed":
        speed()
    elif given.part == "sweeps":
        sweeps(given.data)
    else:
        test(given.data, given.seeds, given.only)


if __name__ == "__main__":
    main()
