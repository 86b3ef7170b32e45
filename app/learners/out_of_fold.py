"""Out-of-fold scores: every document scored by a model that never saw it."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Truth
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner


def fit_with_out_of_fold(
    learner: Learner, features: Features, truth: Truth, folds: NDArray[Any], fitting: Fitting
) -> tuple[Learner, HeldOut]:
    """The learner fitted to everything, and out-of-fold scores by copies of it."""
    held_out = out_of_fold(lambda: deepcopy(learner), features, truth, folds, fitting)
    return learner.fit(features, truth, fitting), held_out


def out_of_fold(
    make_learner: Callable[[], Learner],
    features: Features,
    truth: Truth,
    folds: NDArray[Any],
    fitting: Fitting,
) -> HeldOut:
    """Scores of each fold's documents by a learner fitted to the other folds."""
    scores = np.full(truth.shape, -np.inf, np.float32)
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        learner = make_learner().fit(features[outside], truth[outside], fitting)
        scores[inside] = learner.scores(features[inside], jobs=fitting.jobs)
    return HeldOut.of(scores, truth)
