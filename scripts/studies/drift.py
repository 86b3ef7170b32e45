"""When does a training warn of drift, and what do folds along an order promise?

    python scripts/studies/drift.py DATA_DIR [--shuffles 5]

The training part of every corpus is trained on as it stands in its file, shuffled several times,
and sorted by label. Then the first four fifths of documents in order of time are trained on with
both kinds of folds, and the last fifth tells what was found.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.datasets.collection import Collection, load_collection, subset
from app.decisions.tuning.held_out_figures import figures_of, held_out_counts
from app.training.recipe import read_recipe
from app.training.retune import score_all
from app.training.train import TrainingJob, train

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import machine
from bench.harness.sections import write_section

CORPORA = ("reuters", "debtags", "ohsumed", "go_emotions", "bibtex", "scene", "arxiv-cs60k")
BY_TIME = ("arxiv-cs60k", "reuters")
"""Corpora whose files are in the order of time."""


def checked(corpus: Collection, order: Sequence[int] | Any, seed: int = 0) -> dict[str, Any]:
    """The drift figures of a training on the documents in that order."""
    job = TrainingJob(subset(corpus, order), read_recipe(None), seed=seed, jobs=2)
    drift: dict[str, Any] = train(job).info.figures["drift"]
    return drift


def rows(name: str, corpus: Collection, n_shuffles: int) -> list[str]:
    """The lines of one corpus: as it stands, shuffled, sorted."""
    by_label = sorted(range(len(corpus)), key=lambda row: corpus.label_sets[row])
    shuffles = [np.random.default_rng(seed).permutation(len(corpus)) for seed in range(n_shuffles)]
    checks = [checked(corpus, order, seed) for seed, order in enumerate(shuffles)]
    worst = max(checks, key=lambda check: check["random_micro_f1"] - check["forward_micro_f1"])
    alarms = sum("warning" in check for check in checks)
    return [
        row(name, "as in the file", checked(corpus, range(len(corpus)))),
        row(name, f"shuffled, worst of {n_shuffles}, {alarms} warn", worst),
        row(name, "sorted by label", checked(corpus, by_label)),
    ]


def row(name: str, order: str, check: dict[str, Any]) -> str:
    """One line of the table."""
    figures = [f"{check[key]:.3f}" for key in ("random_micro_f1", "forward_micro_f1")]
    figures += [f"{check['standard_error']:.4f}", f"{check['neighbours_alike']:.2f}"]
    warning = check.get("warning", "")
    says = ("sorted" if "look sorted" in warning else "drift") if warning else "–"
    return f"| {' | '.join([name, order, *figures, says])} |"


def promised(name: str, corpus: Collection) -> str:
    """One line: held-out micro-F1 by random folds and by order, and what the last fifth gives."""
    n_older = len(corpus) * 4 // 5
    older, newer = subset(corpus, range(n_older)), subset(corpus, range(n_older, len(corpus)))
    cells = []
    for folds_by in ("random", "order"):
        recipe = read_recipe(None).with_decision(folds_by=folds_by)
        trained = train(TrainingJob(older, recipe, jobs=2))
        truth = trained.classifier.labels.truth(newer.label_sets)
        scores = score_all(trained.classifier, newer.documents, truth, jobs=2)
        found = figures_of(held_out_counts(trained.classifier.decision, scores))["micro_f1"]
        held_out = trained.info.figures["held_out"]["micro_f1"]
        cells += [f"{held_out:.3f}", f"{found:.3f}"]
    return f"| {' | '.join([name, *cells])} |"


def main() -> None:
    """Print and store the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--shuffles", type=int, default=5)
    given = arguments.parse_args()
    alarms, promises = [], []
    for name in CORPORA:
        corpus = load_collection(next((given.data / name).glob("train.*")))
        alarms += rows(name, corpus, given.shuffles)
        promises += [promised(name, corpus)] if name in BY_TIME else []
        print("\n".join(alarms[-3:]), flush=True)
    print("\n".join(promises))
    write_section("drift-study", section(alarms, promises, given.shuffles))


def section(alarms: list[str], promises: list[str], n_shuffles: int) -> str:
    """The section in Markdown."""
    return "\n".join(
        [
            "## When a training warns of drift",
            "",
            "Micro-F1 of the last fifth of the training documents, 32 most frequent labels, by "
            "random folds and by a model of the first four fifths; the standard error of the "
            "difference; how much more often neighbours share a label than documents at random.",
            "",
            "| corpus | order | random | forward | standard error | alike | warns of |",
            "|---|---|---|---|---|---|---|",
            *alarms,
            "",
            "What held-out figures promise for newer documents: trained on the first four fifths "
            "in order of time, found on the last (micro-F1).",
            "",
            "| corpus | random folds promise | found | folds by order promise | found |",
            "|---|---|---|---|---|",
            *promises,
            "",
            f"{machine()}. Reproduce: `.venv/bin/python scripts/studies/drift.py DATA_DIR "
            f"--shuffles {n_shuffles}`, DATA_DIR with a folder a corpus.",
        ]
    )


if __name__ == "__main__":
    main()
