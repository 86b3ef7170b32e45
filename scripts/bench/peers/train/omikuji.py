"""omikuji: three trees, its default (Parabel)."""

import os
import tempfile

import numpy as np
import omikuji
from timed_rounds import run_rounds
from training import folder_mb, matrices, timed
from xmc_file import row_columns, row_pairs, write_xmc

X, Y, X_TEST, Y_TEST = matrices()
FOLDER = tempfile.TemporaryDirectory()
FILE = os.path.join(FOLDER.name, "train.txt")
write_xmc(FILE, X, row_columns(Y), Y.shape[1])


def best_five(model):
    """One document at a time, as its interface has it."""
    best = np.full((X_TEST.shape[0], 5), -1)
    for row in range(X_TEST.shape[0]):
        found = model.predict(row_pairs(X_TEST, row), top_k=5)
        best[row, : len(found)] = [label for label, _ in found]
    return best


def size_mb(model):
    """Its folder."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        return folder_mb(folder)


run_rounds(
    {
        "tree": timed(
            lambda: omikuji.Model.train_on_data(FILE, omikuji.Model.default_hyper_param(), 1),
            best_five,
            Y_TEST,
            size_mb,
        )
    }
)
FOLDER.cleanup()
