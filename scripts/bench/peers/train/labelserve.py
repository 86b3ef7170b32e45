"""Our linear learners: one-vs-rest, the same with out-of-fold scores and cuts, and the tree."""

import numpy as np
from scipy.sparse import csr_array
from timed_rounds import run_rounds
from training import best_columns, matrices, timed

from app.decisions.calibration.calibration import Calibration
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.tune import tune
from app.kernels import KERNELS, warm
from app.learners.base import Fitting
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.learners.tree.tree import Tree

X, Y, X_TEST, Y_TEST = (csr_array(matrix) for matrix in matrices())
Y = csr_array(Y, dtype=np.bool_)
warm(names=KERNELS)


def with_folds():
    """One-vs-rest with everything that `scripts/train.py` adds to it by default."""
    folds = stratified_folds(Y, 5, 0)
    learner, held_out = fit_with_out_of_fold(OneVsRest(), X, Y, folds, Fitting())
    tune("micro-f", held_out, Hulls.of(held_out))
    Calibration.fit(held_out)
    return learner


def best_five(learner):
    """In chunks: a matrix of all scores would not fit."""
    rows = range(0, X_TEST.shape[0], 256)
    return np.vstack([best_columns(learner.scores(X_TEST[i : i + 256])) for i in rows])


def size_mb(learner):
    """All arrays of the learner's state."""

    def size(state):
        own = sum(array.nbytes for array in state.arrays.values())
        return own + sum(size(part) for part in state.parts.values())

    return size(learner.state()) / 1e6


run_rounds(
    {
        "one-vs-rest": timed(lambda: OneVsRest().fit(X, Y), best_five, Y_TEST, size_mb),
        "with-folds": timed(with_folds, best_five, Y_TEST, size_mb),
        "tree": timed(lambda: Tree().fit(X, Y), best_five, Y_TEST, size_mb),
        "one-tree": timed(lambda: Tree(n_trees=1).fit(X, Y), best_five, Y_TEST, size_mb),
    }
)
