"""Out-of-fold scores: every document scored by a model that never saw it."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from app.arrays import Features, Scores, Truth
from app.folds import Folds, Split, two_parts
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner
from app.learners.out_of_fold_scores import OutOfFoldScores, out_of_fold_scores
from app.progress import silent

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
    collected = out_of_fold_scores(truth)
    held_out_rows = fitting.held_out_rows(features, folds)
    for inside, outside in folds.splits():
        learner = make_learner().fit(features[outside], truth[outside], fitting)
        _score(learner, held_out_rows, inside, collected, jobs=fitting.jobs)
    return collected.held_out().at(folds.scored())


def scores_of_split(
    learner: Learner, features: Features, truth: Truth, split: Split, fitting: Fitting
) -> Scores:
    """Scores of the documents inside by the learner, which is fitted to those outside."""
    quiet = replace(fitting, progress=silent, checkpoint=None)
    learner.fit(features[split.outside], truth[split.outside], quiet)
    rows = fitting.held_out_rows(features, two_parts(split))
    return learner.scores(rows[split.inside], jobs=fitting.jobs)


def held_out_of(learner: Learner, features: Features, truth: Truth, *, jobs: int) -> HeldOut:
    """Scores of documents that a fitted learner never saw; sparse where all would not fit."""
    collected = out_of_fold_scores(truth)
    _score(learner, features, np.arange(truth.shape[0]), collected, jobs=jobs)
    return collected.held_out()


def _score(
    learner: Learner, features: Features, rows: Any, collected: OutOfFoldScores, *, jobs: int
) -> None:
    """Score these rows, some at once."""
    for start in range(0, len(rows), DOCUMENTS_AT_ONCE):
        documents = rows[start : start + DOCUMENTS_AT_ONCE]
        scores = learner.scores(features[documents], jobs=jobs)
        collected.put(documents, np.arange(scores.shape[1]), scores)
