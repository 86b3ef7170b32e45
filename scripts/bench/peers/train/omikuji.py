"""omikuji: three trees, its default (Parabel)."""

import os
import tempfile

import numpy as np
import omikuji
from timed_rounds import run_rounds
from training import folder_mb, matrices, timed

X, Y, X_TEST, Y_TEST = matrices()
FOLDER = tempfile.TemporaryDirectory()
FILE = os.path.join(FOLDER.name, "train.txt")
with open(FILE, "w") as file:
    file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
    for row in range(X.shape[0]):
        labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]))
        span = slice(X.indptr[row], X.indptr[row + 1])
        pairs = zip(X.indices[span], X.data[span], strict=True)
        file.write(labels + "".join(f" {c}:{v:.6g}" for c, v in pairs) + "\n")


def best_five(model):
    """One document at a time, as its interface has it."""
    best = np.full((X_TEST.shape[0], 5), -1)
    for row in range(X_TEST.shape[0]):
        span = slice(X_TEST.indptr[row], X_TEST.indptr[row + 1])
        pairs = list(zip(X_TEST.indices[span].tolist(), X_TEST.data[span].tolist(), strict=True))
        found = model.predict(pairs, top_k=5)
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
