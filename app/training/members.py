"""One member of a model: its features and its learner fitted, and held-out scores to tune on."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.classifier import Member
from app.heldout import HeldOut
from app.learners import learner_class
from app.learners.base import Fitting, Learner
from app.learners.folds import stratified_folds
from app.learners.out_of_fold import fit_with_out_of_fold
from app.training.construct import construct
from app.training.recipe import MemberRecipe
from app.vectorizers import vectorizer_class
from app.vectorizers.base import Vectorizer

SPLIT_PARTS = 8  # a learner that keeps documents aside keeps one part in eight


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Documents and truth to fit to, and where given others to tune on."""

    documents: Any
    truth: Truth
    valid_documents: Any = None
    valid_truth: Truth | None = None


@dataclass(frozen=True, slots=True)
class FittedMember:
    """A fitted member, and its held-out scores for the documents `rows` of what is tuned on."""

    member: Member
    held_out: HeldOut | None
    rows: NDArray[np.int64]


def fit_member(
    recipe: MemberRecipe, data: TrainingData, *, folds: int, fitting: Fitting
) -> FittedMember:
    """Fit features, then the learner, by the way of holding out that suits it.

    With validation documents: fitted to all training documents, tuned on those. Otherwise by
    `folds` (out-of-fold scores of every document), or, for learners that stop early, with one part
    of the documents kept aside. `folds` of 0 holds nothing out.
    """
    vectorizer, learner = built(recipe)
    features = vectorizer.fit_transform(
        data.documents, jobs=fitting.jobs, progress=fitting.progress
    )
    fitting = replace(fitting, vectors=getattr(vectorizer, "vectors", None))
    if data.valid_truth is not None:
        return _with_validation(vectorizer, learner, features, data, fitting)
    n_parts = SPLIT_PARTS if _keeps_aside(learner) else folds
    if folds == 0 or data.truth.shape[0] < 2:
        learner.fit(features, data.truth, fitting)
        return FittedMember(Member(vectorizer, learner), None, np.empty(0, np.int64))
    parts = stratified_folds(data.truth, min(n_parts, data.truth.shape[0]), fitting.seed)
    if _keeps_aside(learner):
        return _with_part_aside(vectorizer, learner, features, data.truth, parts == 0, fitting)
    learner, held_out = fit_with_out_of_fold(learner, features, data.truth, parts, fitting)
    return FittedMember(Member(vectorizer, learner), held_out, np.arange(len(parts)))


def built(recipe: MemberRecipe) -> tuple[Vectorizer, Learner]:
    """A new vectorizer and learner; a wrong setting is refused by name."""
    return (
        construct(
            f"features {recipe.vectorizer}",
            vectorizer_class(recipe.vectorizer),
            recipe.vectorizer_settings,
        ),
        construct(f"learner {recipe.learner}", learner_class(recipe.learner), recipe.settings),
    )


def _with_validation(
    vectorizer: Vectorizer, learner: Learner, features: Any, data: TrainingData, fitting: Fitting
) -> FittedMember:
    valid = vectorizer.transform(data.valid_documents, jobs=fitting.jobs)
    learner.fit(features, data.truth, replace(fitting, valid=(valid, data.valid_truth)))
    held_out = HeldOut.of(learner.scores(valid, jobs=fitting.jobs), data.valid_truth)
    return FittedMember(Member(vectorizer, learner), held_out, np.arange(held_out.n_documents))


def _with_part_aside(
    vectorizer: Vectorizer,
    learner: Learner,
    features: Any,
    truth: Truth,
    aside: NDArray[np.bool_],
    fitting: Fitting,
) -> FittedMember:
    rows, others = np.flatnonzero(aside), np.flatnonzero(~aside)
    valid = (features[rows], truth[rows])
    learner.fit(features[others], truth[others], replace(fitting, valid=valid))
    held_out = HeldOut.of(learner.scores(valid[0], jobs=fitting.jobs), valid[1])
    return FittedMember(Member(vectorizer, learner), held_out, rows)


def _keeps_aside(learner: Learner) -> bool:
    """Whether the learner stops early on documents kept aside; most learners do not."""
    return bool(getattr(learner, "keeps_aside", False))
