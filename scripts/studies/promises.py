"""Is what operating points promise found on other documents, and are probabilities right?

    python scripts/studies/promises.py DATA_DIR [--splits 20] [--only reuters,bibtex]
        [--quality balanced]
    python scripts/studies/promises.py DATA_DIR --part calibration

`promises`: each corpus' documents, train and test together, are split at random: three quarters to
train on, with all defaults, and a quarter to look. `calibration`: default models, of words and of
words and pairs of words, on the corpora's own test sets.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from app.classifier import Classifier
from app.datasets.collection import Collection, load_collection, split, subset
from app.errors import UnattainableError
from app.metrics.calibration import LOWEST, Reliability, expected_calibration_error
from app.training.recipe import MemberRecipe, Recipe
from app.training.search.training import searched_training
from app.training.train import TrainingJob, train

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section

SIZES = {"reuters": None, "debtags": 8000, "bibtex": None, "ohsumed": None, "go_emotions": 10_000}
BOUNDS = (
    *("precision>=0.8", "precision>=0.9", "precision>=0.95"),
    *("recall>=0.8", "recall>=0.9", "f1"),
)
POINTS = (*BOUNDS, *(f"macro:{bound}" for bound in BOUNDS))
CALIBRATED = ("reuters", "debtags", "ohsumed", "go_emotions", "arxiv-cs60k")
TEST_SHARE = 0.25
CHUNK = 2048


class Finding(NamedTuple):
    """Found less promised, and whether the interval holds what was found: precision, recall."""

    gaps: tuple[float, float]
    inside: tuple[bool, bool]


def pooled(folder: Path) -> Collection:
    """Train and test documents of a corpus together."""
    suffix = "svm.gz" if (folder / "train.svm.gz").exists() else "txt.gz"
    one, other = (load_collection(folder / f"{part}.{suffix}") for part in ("train", "test"))
    sets, ids = one.label_sets + other.label_sets, one.ids + other.ids
    if not one.is_ready_made:
        return Collection([*one.documents, *other.documents], sets, ids, one.summary)
    width = max(one.documents.shape[1], other.documents.shape[1])
    rows = vstack([_wide(part.documents, width) for part in (one, other)], format="csr")
    return Collection(rows, sets, ids, one.summary, is_ready_made=True)


def _wide(rows: csr_array, width: int) -> csr_array:
    return csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))


def findings(
    documents: Collection, size: int | None, seed: int, quality: str
) -> Iterator[tuple[str, Finding]]:
    """Every attainable point of one random split."""
    order = np.random.default_rng(seed).permutation(len(documents))[:size]
    training, test = split(subset(documents, np.sort(order)), TEST_SHARE, seed)
    classifier = searched_training(TrainingJob(training, Recipe(), seed=seed), quality).classifier
    scores = all_scores(classifier, test)
    truth = classifier.labels.truth(test.label_sets).toarray()
    points = classifier.operating_points
    for name in POINTS:
        try:
            decision = points.find(name) if points else None
        except UnattainableError:
            continue
        if decision is None or decision.expected is None:
            continue
        told = decision.expected
        found = figures(decision.decide(scores), truth, is_macro="macro" in name)
        gaps = found[0] - told.precision, found[1] - told.recall
        intervals = told.precision_interval or (0, 1), told.recall_interval or (0, 1)
        inside = tuple(a <= own <= b for own, (a, b) in zip(found, intervals, strict=True))
        yield name, Finding(gaps, (inside[0], inside[1]))


def all_scores(classifier: Classifier, test: Collection) -> NDArray[np.float32]:
    """The scores of all documents, dense."""
    starts = range(0, len(test), CHUNK)
    return np.vstack([classifier.scores(test.documents[i : i + CHUNK]) for i in starts])


def figures(marks: NDArray[Any], truth: NDArray[Any], *, is_macro: bool) -> tuple[float, float]:
    """Precision and recall, 0/0 = 0; macro over the labels that the test set has."""
    right, assigned, true = (marks & truth).sum(0), marks.sum(0), truth.sum(0)
    if not is_macro:
        return right.sum() / max(assigned.sum(), 1), right.sum() / max(true.sum(), 1)
    there = true > 0
    precision = (right / np.maximum(assigned, 1))[there].mean()
    return float(precision), float((right[there] / true[there]).mean())


def promises(data: Path, corpora: Sequence[str], n_splits: int, quality: str) -> None:
    """Print and store the table of promises."""
    rows = ["| corpus | point | splits | precision | recall |", "|---|---|---|---|---|"]
    summary, cells = [], []
    for corpus in corpora:
        documents, found = pooled(data / corpus), defaultdict(list)
        for seed in range(n_splits):
            for name, finding in findings(documents, SIZES[corpus], seed, quality):
                found[name].append(finding)
            print(f"{corpus}: split {seed + 1} of {n_splits}", flush=True)
        for name in POINTS:
            if found[name]:
                gaps = np.array([finding.gaps for finding in found[name]])
                cells += [_cell(gaps[:, which]) for which in (0, 1)]
                told = " | ".join(f"{cell.mean:+.4f}{cell.mark}" for cell in cells[-2:])
                rows.append(f"| {corpus} | `{name}` | {len(gaps)} | {told} |")
        inside = [own for every in found.values() for finding in every for own in finding.inside]
        summary.append(f"{corpus} {np.mean(inside):.3f}")
        print("\n".join(rows[-len(found) :]), summary[-1], flush=True)
    met = sum(cell.is_met for cell in cells)
    largest = max(abs(cell.mean) for cell in cells)
    text = [
        "## Promises of operating points",
        "",
        f"{n_splits} random splits (three quarters to train on, `--quality {quality}`; a quarter "
        "to look) of each corpus, train and test documents together; mean of found less promised, "
        "over the splits where the point is attainable. Macro figures run over labels that the "
        "test part has. Within ±.01, or within two standard errors of 0: "
        f"{met} of {len(cells)}; the others are marked *; the largest is {largest:.4f}. Found "
        f"values inside the 90 % intervals: {', '.join(summary)}.",
        "",
        *rows,
        "",
        f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/promises.py DATA_DIR "
        f"--splits {n_splits} --quality {quality}`, DATA_DIR with a folder a corpus.",
    ]
    if list(corpora) == list(SIZES):
        write_section("promises", "\n".join(text))
    print("\n".join(text))


class Cell(NamedTuple):
    """A mean gap, and whether it is as small as it should be."""

    mean: float
    is_met: bool

    @property
    def mark(self) -> str:
        """A star where it is not."""
        return "" if self.is_met else " *"


def _cell(gaps: NDArray[np.float64]) -> Cell:
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.inf
    mean = float(gaps.mean())
    return Cell(mean, bool(abs(mean) <= max(0.01, 2 * error)))


def calibration(data: Path, corpora: Sequence[str]) -> None:
    """Print and store the expected calibration errors of default models."""
    rows = ["| corpus | words | words and pairs of words |", "|---|---|---|"]
    for corpus in corpora:
        training = load_collection(data / corpus / "train.txt.gz")
        test = load_collection(data / corpus / "test.txt.gz")
        told = [_ece(training, test, features) for features in ({}, {"ngram_range": [1, 2]})]
        rows.append(f"| {corpus} | {told[0]:.4f} | {told[1]:.4f} |")
        print(rows[-1], flush=True)
    text = [
        "## Probabilities on test sets",
        "",
        f"Expected calibration error over pairs of a probability of {LOWEST} or more; default "
        "models, trained on the training part.",
        "",
        *rows,
        "",
        f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/promises.py DATA_DIR "
        "--part calibration`.",
    ]
    if list(corpora) == list(CALIBRATED):
        write_section("calibration", "\n".join(text))


def _ece(training: Collection, test: Collection, features: dict[str, Any]) -> float:
    member = replace(MemberRecipe(), features=features)
    classifier = train(TrainingJob(training, Recipe((member,)), jobs=2)).classifier
    truth, counted = classifier.labels.truth(test.label_sets), Reliability()
    for start in range(0, len(test), CHUNK):
        scores = classifier.scores(test.documents[start : start + CHUNK], jobs=2)
        if classifier.calibration is None:
            raise SystemExit("the model has no calibration")
        probabilities = classifier.calibration.probabilities(scores)
        is_counted = probabilities >= LOWEST
        marks = truth[start : start + CHUNK].toarray()
        counted.add(probabilities[is_counted], marks[is_counted])
    return expected_calibration_error(counted.bins()) or 0.0


def main() -> None:
    """Run one part."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--part", choices=("promises", "calibration"), default="promises")
    arguments.add_argument("--splits", type=int, default=20)
    arguments.add_argument("--quality", default="balanced", help="fast, balanced or best")
    arguments.add_argument("--only", default="", help="corpora, separated by commas")
    given = arguments.parse_args()
    corpora = tuple(given.only.split(",")) if given.only else None
    if given.part == "promises":
        promises(given.data, corpora or tuple(SIZES), given.splits, given.quality)
    else:
        calibration(given.data, corpora or CALIBRATED)


if __name__ == "__main__":
    main()
