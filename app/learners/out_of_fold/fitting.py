"""Out-of-fold scores: every document scored by a model that never saw it."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.folds import Folds, Split, two_parts
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner, unchanged
from app.learners.out_of_fold.scores import OutOfFoldScores, out_of_fold_scores
from app.progress import silent
from app.resources.scratch import release

DOCUMENTS_AT_ONCE = 1024


def fit_with_out_of_fold(
    learner: Learner, features: Features, truth: Truth, folds: Folds, fitting: Fitting
) -> tuple[Learner, HeldOut]:
    """The learner fitted to everything, and out-of-fold scores.

    By the learner's own short cut where it has one, else by copies of it, fold after fold; always
    by copies where columns are selected, since every fold has columns of its own.
    """
    if fitting.selected_rows is None:
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
    collected = out_of_fold_scores(truth, scratch=fitting.scratch)
    fitting = replace(fitting, ids=None)
    held_out_rows = fitting.held_out_rows(features, folds)
    for split in folds.splits():
        known, new = _rows_of_split(features, held_out_rows, split, fitting)
        # The model has no name here: it would be kept while the next one, as large, is fitted.
        _score(
            make_learner().fit(known, truth[split.outside], _within_split(fitting)),
            new,
            split.inside,
            collected,
            jobs=fitting.jobs,
        )
    return collected.held_out().at(folds.scored())


def scores_of_split(
    learner: Learner, features: Features, truth: Truth, split: Split, fitting: Fitting
) -> Scores:
    """Scores of the documents inside by the learner, which is fitted to those outside."""
    quiet = replace(fitting, progress=silent, checkpoint=None, ids=None)
    if fitting.selected_rows is None:
        # All documents' held-out rows are gone before the others are copied.
        new = fitting.held_out_rows(features, two_parts(split))[split.inside]
        release(features.indices, features.data)
        known = features[split.outside]
    else:
        known, new = _rows_of_split(features, features, split, fitting)
    release(features.indices, features.data)
    known = fitting.moved(known)
    learner.fit(known, truth[split.outside], _within_split(quiet))
    return learner.scores(new, jobs=fitting.jobs)


def _rows_of_split(
    features: Features, held_out_rows: Features, split: Split, fitting: Fitting
) -> tuple[Features, Features]:
    """Rows of the documents outside, to fit to, and of those inside, to score.

    Where columns are selected, both have the columns that the documents outside choose.
    """
    if fitting.selected_rows is None:
        return features[split.outside], held_out_rows[split.inside]
    rows = fitting.selected_rows(split.outside)
    return rows[split.outside], rows[split.inside]


def _within_split(fitting: Fitting) -> Fitting:
    """The fitting of a split's model, which has no columns but its own."""
    if fitting.selected_rows is None:
        return fitting
    return replace(fitting, selected_rows=None, held_out_rows=unchanged)


def held_out_of(learner: Learner, features: Features, truth: Truth, *, jobs: int) -> HeldOut:
    """Scores of documents that a fitted learner never saw; sparse where all would not fit."""
    collected = out_of_fold_scores(truth)
    _score(learner, features, np.arange(truth.shape[0]), collected, jobs=jobs)
    return collected.held_out()


def _score(
    learner: Learner,
    features: Features,
    documents: NDArray[Any],
    collected: OutOfFoldScores,
    *,
    jobs: int,
) -> None:
    """Score these rows, which are those documents, some at once."""
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        some = slice(start, start + DOCUMENTS_AT_ONCE)
        scores = learner.scores(features[some], jobs=jobs)
        collected.put(documents[some], np.arange(scores.shape[1]), scores)
