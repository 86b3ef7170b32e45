"""Out-of-fold scores: every document scored by a model that never saw it."""

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from app.arrays import Features, Truth
from app.folds import Folds
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner
from app.learners.out_of_fold_scores import out_of_fold_scores

DOCUMENTS_AT_ONCE = 1024


def fit_with_out_of_fold(
    learner: Learner, features: Features, truth: Truth, folds: Folds, fitting: Fitting
) -> tuple[Learner, HeldOut]:
    """The learner fitted to everything, and out-of-fold scores.

    By the learner's own short cut where it has one, else by copies of it, fold after fold.
    """
    held_out = learner.fit_with_held_out(features, truth, folds, fitting)
    if held_out is not None:
        return learner, held_out
    held_out = out_of_fold(lambda: deepcopy(learner), features, truth, folds, fitting)
    return learner.fit(features, truth, fitting), held_out


def out_of_fold(
    make_learner: Callable[[], Learner],
    features: Features,
    truth: Truth,
    folds: Folds,
    fitting: Fitting,
) -> HeldOut:
    """Scores of the documents that the folds score, each by a learner that was not fitted to it."""
    collected, labels = out_of_fold_scores(truth), np.arange(truth.shape[1])
    held_out_rows = fitting.held_out_rows(features, folds)
    for inside, outside in folds.splits():
        learner = make_learner().fit(features[outside], truth[outside], fitting)
        for start in range(0, len(inside), DOCUMENTS_AT_ONCE):
            documents = inside[start : start + DOCUMENTS_AT_ONCE]
            scores = learner.scores(held_out_rows[documents], jobs=fitting.jobs)
            collected.put(documents, labels, scores)
    return collected.held_out().at(folds.scored())
