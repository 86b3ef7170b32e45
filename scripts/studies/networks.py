"""Settings of networks compared inside the training documents of Reuters, which are in time order.

`networks.py LEARNER [section.key=value …]` trains and tunes on the first four fifths as
scripts/train.py does, and prints micro-F1 on the last fifth: at the best cut that all labels can
share, and with tuned cuts shrunk to a common cut more and more. The test documents are not read.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.environment import data_folder

from app.arrays import Scores, Truth
from app.classifier import added_up
from app.datasets.collection import load_collection
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.shrunk_cuts import common_cut
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.ensemble import combine
from app.training.fold_plan import FoldPlan
from app.training.members import TrainingData, fit_member
from app.training.recipe import read_recipe

SHRINKAGES = (0, 3, 10, 30)


def main(learner: str, *changes: str) -> None:
    """Print the figures of one learner."""
    corpus = load_collection(str(data_folder() / "reuters" / "train.txt.gz"))
    labels = LabelIndex.of(corpus.label_sets)
    truth = labels.truth(corpus.label_sets)
    first = int(0.8 * truth.shape[0])
    data = TrainingData(corpus.documents[:first], truth[:first])
    recipe = read_recipe(None, learner=learner, changes=changes).completed()
    began = time.process_time()
    fitted = [fit_member(one, data, plan=FoldPlan(5), fitting=Fitting()) for one in recipe.members]
    members, held_out = combine(fitted)
    spent = time.process_time() - began
    late = corpus.documents[first:]
    scores = added_up(members, [member.scores(late) for member in members])
    report(f"{learner} {' '.join(changes)}", held_out, scores, truth[first:])
    print(f"{spent:.0f} s of CPU to train and tune")


def report(name: str, held_out: HeldOut, scores: Scores, truth: Truth) -> None:
    """One line: micro-F1 at the best cut that all labels can share, and with shrunk cuts."""
    hulls, late = Hulls.of(held_out), HeldOut.of(scores, truth)
    print(name, f"common cut {micro_f1(scores, common_cut(late), truth):.4f}", end="")
    for shrinkage in SHRINKAGES:
        cuts = tune("micro-f", held_out, hulls, TuningOptions(shrinkage=shrinkage)).cuts
        print(f" · shrinkage {shrinkage} {micro_f1(scores, cuts, truth):.4f}", end="")
    print()


def micro_f1(scores: Scores, cuts: Any, truth: Truth) -> float:
    """Micro-F1 of these cuts."""
    decided, marks = scores > cuts, truth.toarray()
    return float(2 * np.count_nonzero(decided & marks) / (decided.sum() + marks.sum()))


if __name__ == "__main__":
    main(*sys.argv[1:])
