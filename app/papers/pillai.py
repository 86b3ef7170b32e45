"""What the tables of Pillai et al. (2013) share: their collections, methods and cuts."""

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut
from app.papers.experiments import Experiments, ScoredRun
from app.papers.measures import micro_f1
from app.papers.methods import Method, grid

FBR_VALUES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)

TEXT_SVM = Method(
    "SVM", "one-vs-rest", (), "differs: squared hinge, all terms, no stemming, C = 1 not searched"
)
NEIGHBOURS = (5, 10, 15, 20, 30, 45, 60)
TEXT_KNN = Method(
    "k-NN", "knn", (), "differs: all terms of 2 documents or more, no stemming, k = 45 not searched"
)
TEXT_NB = Method(
    "NB",
    "naive-bayes",
    ("learner.event=bernoulli", "learner.alpha=0.01"),
    "differs: all terms of 2 documents or more, no stemming, smoothing 0.01 of three tried",
)
RBF_SVM = Method("SVM", "svm-rbf", (), "differs: C and the kernel's width not searched")
DENSE_KNN = Method(
    "k-NN",
    "knn",
    (),
    "differs: cosines as weights, of features less their mean where that does better in training",
    grid(centred=(False, True), k=NEIGHBOURS),
)

METHODS = {
    "Reuters": {"SVM": TEXT_SVM, "k-NN": TEXT_KNN, "NB": TEXT_NB},
    "Yeast": {"SVM": RBF_SVM, "k-NN": DENSE_KNN},
    "Scene": {"SVM": RBF_SVM, "k-NN": DENSE_KNN},
}
FOLDERS = {"Reuters": "reuters", "Yeast": "yeast", "Scene": "scene"}
SAME_DATA = {"Reuters": "yes, one training document more", "Yeast": "yes", "Scene": "yes"}
WITHOUT = {
    "Ohsumed": "the heart-disease tree (99 labels, 12,775/3,750 documents) is not to be had; "
    "the ohsumed of 23 labels is another task",
    "RCV1v2": "five samples of 3,000/3,000 documents that are not to be had",
}
NO_NB = "naive Bayes with equal-width intervals of continuous features is not among the learners"


def why_absent(experiments: Experiments, data: str, method: str = "SVM") -> str | None:
    """Why a collection, or a method on it, cannot be had; None where it can."""
    if data in WITHOUT:
        return WITHOUT[data]
    if method not in METHODS[data]:
        return NO_NB
    return experiments.why_absent(FOLDERS[data])


def runs_of(experiments: Experiments, data: str, method: str = "SVM") -> list[ScoredRun]:
    """The scores of every run."""
    return experiments.parts(FOLDERS[data], METHODS[data][method])


def plain_cuts(
    held_out: HeldOut, hulls: Hulls, *, fbr: float = 0.0, kind: int = 1, average: str = "micro"
) -> NDArray[np.float32]:
    """The cuts of the highest F1 on the held-out scores themselves, as the paper takes them."""
    options = TuningOptions(resamples=0, fbr=fbr, fbr_kind=kind)
    return _cuts(average, held_out, hulls, options)


def bagged_cuts(run: ScoredRun) -> NDArray[np.float32]:
    """The cuts that training takes by default: averaged over resamples."""
    return _cuts("micro", run.held_out, run.hulls, TuningOptions())


def f1_on_test(run: ScoredRun, cuts: NDArray[np.float32]) -> float:
    """Micro-F1 on the test set."""
    return micro_f1(run.scores > cuts, run.truth)


def chosen_fbr(held_out: HeldOut, kind: int) -> float:
    """The `fbr` of highest micro-F1 where each part's cuts come from the others; lowest of equals.

    The paper fits anew in every part; here the out-of-fold scores are parted instead.
    """
    parts = held_out.parts
    assert parts is not None  # noqa: S101 - runs have folds
    totals = np.zeros(len(FBR_VALUES))
    for part in np.unique(parts):
        others, own = held_out.at(np.flatnonzero(parts != part)), np.flatnonzero(parts == part)
        hulls, inside = Hulls.of(others), held_out.at(own)
        for place, fbr in enumerate(FBR_VALUES):
            cuts = plain_cuts(others, hulls, fbr=fbr, kind=kind)
            totals[place] += micro_f1(inside.scores > cuts, inside.truth)
    return FBR_VALUES[int(np.argmax(totals))]


def _cuts(
    average: str, held_out: HeldOut, hulls: Hulls, options: TuningOptions
) -> NDArray[np.float32]:
    cuts = tune(f"{average}-f", held_out, hulls, options).cuts
    assert cuts is not None  # noqa: S101 - these rules have cuts
    return cuts
