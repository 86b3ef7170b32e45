"""One member of a model: its features and its learner fitted, and held-out scores to tune on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Truth
from app.classifier import Member
from app.folds import Split, two_parts
from app.heldout import HeldOut
from app.learners.base import Fitting, Learner, learner_class
from app.learners.out_of_fold.fitting import fit_with_out_of_fold, held_out_of
from app.training.construct import construct_part
from app.training.drift import ForwardScores, RandomScores, forward_scores, random_scores
from app.training.fewer_documents import fewer_documents
from app.training.fold_plan import FoldPlan
from app.training.recipe import MemberRecipe
from app.vectorizers.base import Vectorizer, vectorizer_class


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Documents and truth to fit to, and where given others to tune on."""

    documents: Any
    truth: Truth
    valid_documents: Any = None
    valid_truth: Truth | None = None
    label_texts: Sequence[str] | None = None
    """What each label is called; None where documents are rows of features."""


@dataclass(frozen=True, slots=True)
class FittedMember:
    """A fitted member, and its held-out scores for the documents `rows` of what is tuned on."""

    member: Member
    held_out: HeldOut | None
    rows: NDArray[np.int64]
    last: ForwardScores | RandomScores | None = None
    """Scores of the last documents by models that the folds lack, where the plan checks for drift:
    of those before them beside random folds, of documents at random beside an order."""


def fit_member(
    recipe: MemberRecipe, data: TrainingData, *, plan: FoldPlan, fitting: Fitting
) -> FittedMember:
    """Fit the vectorizer, then the learner; and scores of held-out documents to tune on.

    With validation documents: fitted to all training documents, tuned on those. Otherwise the folds
    of the plan give out-of-fold scores; a learner that needs a validation set has one part of the
    documents held out instead.
    """
    vectorizer, learner = built(recipe)
    features = fitting.moved(_features(vectorizer, data.documents, fitting))
    fitting = replace(
        fitting,
        word_vectors=vectorizer.word_vectors(),
        held_out_rows=vectorizer.held_out_rows,
        label_rows=_label_rows(vectorizer, learner, data.label_texts),
    )
    if data.valid_truth is not None:
        return _with_validation(vectorizer, learner, features, data, fitting)
    if plan.n_parts == 0 or data.truth.shape[0] < 2:
        learner.fit(vectorizer.select(features, data.truth), data.truth, fitting)
        return FittedMember(Member(vectorizer, learner), None, np.empty(0, np.int64))
    if learner.needs_validation_set:
        split = plan.validation_split(data.truth, fitting.seed)
        return _with_split(vectorizer, learner, features, data.truth, split, fitting)
    return _with_folds(vectorizer, learner, features, data.truth, plan, fitting)


def _features(vectorizer: Vectorizer, documents: Sequence[Any], fitting: Fitting) -> Features:
    """The rows of the training documents, by workers where there are any."""
    how: dict[str, Any] = {"jobs": fitting.jobs, "progress": fitting.progress}
    if fitting.engine is None:
        return vectorizer.fit_transform(documents, **how)
    return vectorizer.fit_transform_on(fitting.engine, documents, scratch=fitting.scratch, **how)


def _label_rows(
    vectorizer: Vectorizer, learner: Learner, texts: Sequence[str] | None
) -> Features | None:
    if texts is None or not learner.reads_label_names:
        return None
    return vectorizer.transform(texts)


def built(recipe: MemberRecipe) -> tuple[Vectorizer, Learner]:
    """A new vectorizer and learner; a wrong setting is refused by name."""
    vectorizer, learner = vectorizer_class(recipe.vectorizer), learner_class(recipe.learner)
    return (
        construct_part(f"features {recipe.vectorizer}", vectorizer, recipe.vectorizer_settings),
        construct_part(f"learner {recipe.learner}", learner, recipe.settings),
    )


def _with_validation(
    vectorizer: Vectorizer, learner: Learner, features: Any, data: TrainingData, fitting: Fitting
) -> FittedMember:
    features = vectorizer.select(features, data.truth)
    valid = vectorizer.transform(data.valid_documents, jobs=fitting.jobs)
    learner.fit(features, data.truth, replace(fitting, valid=(valid, data.valid_truth)))
    held_out = held_out_of(learner, valid, data.valid_truth, jobs=fitting.jobs)
    return FittedMember(Member(vectorizer, learner), held_out, np.arange(held_out.n_documents))


def _with_split(
    vectorizer: Vectorizer,
    learner: Learner,
    features: Any,
    truth: Truth,
    split: Split,
    fitting: Fitting,
) -> FittedMember:
    rows, others = split
    features = vectorizer.select(features, truth, others)
    valid = (fitting.held_out_rows(features, two_parts(split))[rows], truth[rows])
    learner.fit(features[others], truth[others], replace(fitting, valid=valid))
    held_out = held_out_of(learner, *valid, jobs=fitting.jobs)
    return FittedMember(Member(vectorizer, learner), held_out, rows.astype(np.int64))


def _with_folds(
    vectorizer: Vectorizer,
    learner: Learner,
    features: Any,
    truth: Truth,
    plan: FoldPlan,
    fitting: Fitting,
) -> FittedMember:
    if vectorizer.selects_terms:
        selected_rows = partial(vectorizer.selected_rows, features, truth)
        fitting = replace(fitting, selected_rows=selected_rows)
    features, folds = vectorizer.select(features, truth), plan.folds(truth, fitting.seed)
    learner, held_out = fit_with_out_of_fold(learner, features, truth, folds, fitting)
    fewer = fewer_documents(learner, features, truth, folds, fitting)
    held_out = replace(held_out, parts=folds.scored_parts(), fewer=fewer)
    last: ForwardScores | RandomScores | None = None
    if plan.checks_drift and folds.is_forward:
        last = random_scores(learner, features, truth, folds, fitting)
    elif plan.checks_drift:
        last = forward_scores(learner, features, truth, fitting)
    return FittedMember(Member(vectorizer, learner), held_out, folds.scored(), last)
