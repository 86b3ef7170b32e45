"""What `both-f` gives and takes, beside the other tuned decisions; inside training data.

    python scripts/studies/both_averages.py DATA_DIR [--only reuters,ohsumed,go_emotions]

Out-of-fold scores of a default model; cuts are tuned on four parts and judged on the fifth.
"""

import argparse
from pathlib import Path

import numpy as np

from app.datasets.collection import load_collection
from app.decisions.tuning.held_out_figures import figures_of, held_out_counts
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import FoldPlan
from app.training.members import TrainingData, fit_member
from app.training.recipe import Recipe

CORPORA = "reuters,ohsumed,go_emotions"
DECISIONS = ("micro-f", "both-f", "macro-f", "micromacro-pooled")


def crossed_figures(name: str, held_out: HeldOut) -> dict[str, float]:
    """The figures of cuts that were tuned on the other parts."""
    if held_out.parts is None:
        raise SystemExit("the model has no folds")
    counts = np.zeros((held_out.n_labels, 3), np.int64)
    for part in np.unique(held_out.parts):
        others = held_out.at(np.flatnonzero(held_out.parts != part))
        inside = held_out.at(np.flatnonzero(held_out.parts == part))
        counts += held_out_counts(tune(name, others, Hulls.of(others)), inside)
    return figures_of(counts)


def main() -> None:
    """Print a line a corpus and decision."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path, help="a folder with a folder a corpus")
    arguments.add_argument("--only", default=CORPORA)
    given = arguments.parse_args()
    for corpus in given.only.split(","):
        data = load_collection(given.data / corpus / "train.txt.gz")
        truth = LabelIndex.of(data.label_sets).truth(data.label_sets)
        member = Recipe().completed().members[0]
        documents = TrainingData(data.documents, truth)
        fitted = fit_member(member, documents, plan=FoldPlan(5), fitting=Fitting())
        if fitted.held_out is None:
            raise SystemExit("the model has no held-out scores")
        for name in DECISIONS:
            told = crossed_figures(name, fitted.held_out)
            print(f"{corpus} {name}: {told['micro_f1']:.4f} / {told['macro_f1']:.4f}", flush=True)


if __name__ == "__main__":
    main()
