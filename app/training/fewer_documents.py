"""Held-out scores by a model of fewer documents, which tell what more documents will change."""

from copy import deepcopy
from typing import Any

import numpy as np

from app.arrays import Truth
from app.decisions.expectation.label_sample import LabelSample, label_sample
from app.folds import Folds, Split
from app.heldout import FewerDocuments
from app.learners.base import Fitting, Learner
from app.learners.out_of_fold.fitting import scores_of_split

HELD_OUT_PARTS = 2
MOST_FREQUENT, OTHERS = 56, 104
"""Labels that the model learns, where each is learnt on its own."""
MOST_CELLS = 20_000_000


def fewer_documents(
    learner: Learner, features: Any, truth: Truth, folds: Folds, fitting: Fitting
) -> FewerDocuments | None:
    """Scores of two parts by a model of the others; None with fewer than three parts, or forward.

    `learner` has been fitted already. Labels are a sample where each is learnt on its own; where
    they are learnt together it is all, unless their scores would take too much memory.
    """
    n_parts = int(folds.parts.max(initial=0)) + 1
    if folds.is_forward or n_parts <= HELD_OUT_PARTS:
        return None
    is_inside = folds.parts < HELD_OUT_PARTS
    split = Split(*(np.flatnonzero(own).astype(np.int32) for own in (is_inside, ~is_inside)))
    sample = label_sample(_counts(truth), most_frequent=MOST_FREQUENT, others=OTHERS)
    smaller = learner.for_labels(sample.labels)
    if smaller is None:
        smaller, sample = deepcopy(learner), _every_label(truth)
    if len(split.inside) * len(sample.labels) > MOST_CELLS or not len(sample.labels):
        return None
    scores = scores_of_split(smaller, features, truth[:, sample.labels], split, fitting)
    shares = len(split.outside) / len(folds.parts), 1 - 1 / n_parts
    return FewerDocuments(split.inside.astype(np.int64), *sample, scores, *shares)


def _counts(truth: Truth) -> Any:
    return np.bincount(truth.indices, minlength=truth.shape[1])


def _every_label(truth: Truth) -> LabelSample:
    return LabelSample(np.arange(truth.shape[1]), np.ones(truth.shape[1]))
