"""napkinXC: a probabilistic label tree, its default."""

import tempfile

import numpy as np
from napkinxc.models import PLT
from timed_rounds import run_rounds
from training import folder_mb, matrices, timed
from xmc_file import row_columns

X, Y, X_TEST, Y_TEST = matrices()
LABELS = [columns.tolist() for columns in row_columns(Y)]
FOLDER = tempfile.TemporaryDirectory()


def train():
    """On one thread."""
    model = PLT(FOLDER.name, threads=1)
    model.fit(X, LABELS)
    return model


def best_five(model):
    """By its top-k prediction."""
    best = np.full((X_TEST.shape[0], 5), -1)
    for row, found in enumerate(model.predict(X_TEST, top_k=5)):
        best[row, : len(found)] = found
    return best


run_rounds({"tree": timed(train, best_five, Y_TEST, lambda model: folder_mb(FOLDER.name))})
