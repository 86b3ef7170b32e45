"""Chooses C, the cost of a document's loss, by the micro-F1 of held-out documents."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.learners.base import Fitting
from app.learners.linear.block_training import FOLD_TOLERANCE
from app.learners.linear.cost_trials import CostTrials
from app.learners.linear.problem import LinearProblem
from app.learners.out_of_fold.stratified_folds import stratified_folds

GRID = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FOLDS = 3
PRICES = np.arange(1, 100) / 100
"""What a decided label costs beside the 2 that a right one brings: at the price F, the cuts that
bring most are those of the best micro-F1 if that is F (Dinkelbach 1967)."""
MOST_WORK = 2**27
"""Numbers in the documents, times labels, that are tried; of more, a sample."""
FEWEST_LABELS = 64


class ChosenC(NamedTuple):
    """A cost, and how many two-class problems were solved to find it."""

    cost: float
    n_problems: int


def chosen_c(problem: LinearProblem, fitting: Fitting) -> ChosenC:
    """The C of the grid with the highest micro-F1 at its own best cuts; the lowest among equals.

    All are tried on the same three folds, at the cut of each label that is best for it. 1 where
    there is nothing to try on.
    """
    problem = sampled(problem, fitting.seed)
    if problem.n_documents < FOLDS or not len(problem.learnable()):
        return ChosenC(1.0, 0)
    tolerance = FOLD_TOLERANCE * problem.options.tolerance
    problem = replace(problem, options=replace(problem.options, cost=1.0, tolerance=tolerance))
    folds = stratified_folds(csr_array(problem.truth), FOLDS, fitting.seed)
    trials = CostTrials(problem, [(c, c) for c in GRID], folds, fitting)
    right, decided = np.zeros((2, len(GRID), len(PRICES)), np.int64)
    for _, scores, truth in trials.held_out_scores("try C"):
        for column in range(truth.shape[1]):
            for i in range(len(GRID)):
                cuts = best_cuts(scores[i, :, column], truth[:, column])
                right[i] += cuts[0]
                decided[i] += cuts[1]
    f1 = 2 * right / (decided + problem.truth.nnz)
    n_problems = len(GRID) * FOLDS * len(problem.learnable())
    return ChosenC(GRID[int(np.argmax(f1.max(axis=1)))], n_problems)


def best_cuts(
    scores: NDArray[np.float32], is_true: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """At each price: how many documents a label's best cut decides rightly, and how many in all.

    >>> scores, is_true = np.array([0.9, 0.4, 0.3, 0.2]), np.array([True, False, False, True])
    >>> right, decided = best_cuts(scores, is_true)
    >>> right[[9, 89]].tolist(), decided[[9, 89]].tolist()  # at prices of 0.1 and 0.9
    ([2, 1], [4, 1])
    """
    ranks = np.flatnonzero(is_true[np.argsort(-scores, kind="stable")]) + 1
    right, decided = np.arange(len(ranks) + 1), np.append(0, ranks)
    best = np.argmax(2 * right - PRICES[:, None] * decided, axis=1)
    return right[best], decided[best]


def sampled(problem: LinearProblem, seed: int) -> LinearProblem:
    """The problem, or if it is too large every so many of its labels, then fewer documents."""
    work = problem.features.nnz * problem.truth.shape[1]
    if work <= MOST_WORK:
        return problem
    labels = problem.learnable()
    n_labels = max(FEWEST_LABELS, len(labels) * MOST_WORK // work)
    labels = labels[:: max(1, len(labels) // n_labels)]
    share = min(1.0, MOST_WORK / (problem.features.nnz * len(labels)))
    n_documents = int(share * problem.n_documents)
    documents: Any = np.random.default_rng(seed).choice(
        problem.n_documents, n_documents, replace=False
    )
    documents.sort()
    return replace(
        problem,
        features=problem.features[documents],
        truth=problem.truth[:, labels][documents],
        costs=problem.costs[labels],
    )
