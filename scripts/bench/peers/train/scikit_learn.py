"""scikit-learn: LinearSVC for every label."""

import warnings

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from timed_rounds import run_rounds
from training import best_columns, matrices, timed

warnings.simplefilter("ignore")
X, Y, X_TEST, Y_TEST = matrices()
MARKS = np.asarray(Y.todense(), dtype=np.int32)  # as int8 its label binarizer mixes up columns
LAST = np.full(X_TEST.shape[0], -np.inf)


def size_mb(model):
    """All coefficients."""
    return sum(e.coef_.nbytes for e in model.estimators_ if hasattr(e, "coef_")) / 1e6


def best_five(model):
    """By its weights: a label without any ranks last."""
    columns = [
        X_TEST @ e.coef_.ravel() + e.intercept_ if hasattr(e, "coef_") else LAST
        for e in model.estimators_
    ]
    return best_columns(np.stack(columns, axis=1))


run_rounds(
    {
        "one-vs-rest": timed(
            lambda: OneVsRestClassifier(LinearSVC()).fit(X, MARKS), best_five, Y_TEST, size_mb
        )
    }
)
