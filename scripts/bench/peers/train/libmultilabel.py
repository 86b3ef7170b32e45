"""LibMultiLabel: one-vs-rest with a bias at a fine tolerance, thresholding, and the tree."""

import libmultilabel.linear as linear
import numpy as np
from timed_rounds import run_rounds
from training import best_columns, matrices, timed

X, Y, X_TEST, Y_TEST = matrices()
X, X_TEST, Y = X.astype("d"), X_TEST.astype("d"), Y.astype("d")


def best_five(model):
    """In chunks: its scores are dense."""
    rows = range(0, X_TEST.shape[0], 256)
    chunks = [linear.predict_values(model, X_TEST[i : i + 256]) for i in rows]
    return best_columns(np.vstack(chunks))


def weights_mb(model):
    """The weights in memory, which is what it pickles."""
    weights = model.weights
    return (weights.nbytes if hasattr(weights, "nbytes") else weights.data.nbytes) / 1e6


def tree():
    """Its tree, with its own settings."""
    return linear.train_tree(Y, X, "-s 1 -B 1 -e 0.0001")


run_rounds(
    {
        "one-vs-rest": timed(
            lambda: linear.train_1vsrest(Y, X, False, "-s 1 -B 1 -e 0.0001"),
            best_five,
            Y_TEST,
            weights_mb,
        ),
        "with-folds": timed(
            lambda: linear.train_thresholding(Y, X, False, "-s 1 -B 1"), best_five, Y_TEST
        ),
        "tree": timed(tree, best_five, Y_TEST),
    }
)
