"""What wider tolerances, or fewer folds, save, and what cuts and calibration lose by them.

    PYTHONPATH=. python scripts/studies/fold_costs.py DATA_DIR --tried 10x5,30x5,10x3

Everything inside training data: four fifths of each corpus' training documents are trained with
out-of-fold scores that end at so many times the tolerance, in so many folds; the last fifth (drawn
by the seed) is scored by that model. CPU seconds of the training, micro-F1 and macro-F1 at the
cuts, and the expected calibration error of all probabilities (15 bins). Test sets are not opened.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from app.datasets.collection import load_collection, split
from app.kernels import compiled, warm
from app.learners.linear import block_training
from app.training.recipe import Recipe
from app.training.train import TrainingJob, train

CORPORA = ("reuters", "ohsumed", "go_emotions", "debtags")
BINS = 15


def studied(file: Path, tried: list[str], seed: int) -> None:
    """Print a line for each tolerance and number of folds."""
    training, others = split(load_collection(file), 0.2, seed)
    for name in tried:
        factor, folds = map(int, name.split("x"))
        block_training.FOLD_TOLERANCE = factor
        recipe = Recipe().with_decision(folds=folds)
        start = process_time()
        classifier = train(TrainingJob(training, recipe, seed=seed)).classifier
        seconds = process_time() - start
        truth = classifier.labels.truth(others.label_sets).toarray()
        scores = classifier.scores(others.documents)
        micro, macro = _f1(classifier.decision.decide(scores), truth)
        error = _calibration_error(classifier.probabilities(scores), truth)
        print(
            f"{file.parent.name:12} {name:6} {seconds:6.1f} CPU s   "
            f"micro {micro:.4f}  macro {macro:.4f}  ECE {error:.5f}",
            flush=True,
        )


def _f1(marks: Any, truth: Any) -> tuple[float, float]:
    both, all_ = (marks & truth).sum(axis=0), marks.sum(axis=0) + truth.sum(axis=0)
    seen = truth.any(axis=0)
    return 2 * both.sum() / all_.sum(), float((2 * both[seen] / all_[seen]).mean())


def _calibration_error(probabilities: Any, truth: Any) -> float:
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1).ravel()
    gaps = np.bincount(bins, (probabilities - truth).ravel().astype(np.float64), BINS)
    return float(np.abs(gaps).sum() / truth.size)


def main() -> None:
    """Study the corpora that are there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default=",".join(CORPORA))
    parser.add_argument("--tried", default="10x5,30x5,100x5,10x3")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if compiled():
        warm()
    for name in given.only.split(","):
        file = given.data / name / "train.txt.gz"
        studied(file, given.tried.split(","), given.seed)


if __name__ == "__main__":
    main()
