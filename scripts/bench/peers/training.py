"""What the trainers share: a corpus as matrices, and figures of the trained model."""

import os
import resource
import time

import numpy as np
from scipy.sparse import load_npz


def matrices():
    """Features and marks to train on, features and marks to test on, as csr matrices."""
    folder = os.environ["LABELSERVE_BENCH_MATRICES"]
    names = ("train_features", "train_marks", "test_features", "test_marks")
    return [load_npz(os.path.join(folder, f"{name}.npz")).tocsr() for name in names]


def timed(train, best_five, test_marks, size_mb=None):
    """A round: train, and figures of the model; only the training is timed."""

    def work():
        before, cpu, wall = _peak_mb(), time.process_time(), time.perf_counter()
        model = train()
        found = {
            "cpu": time.process_time() - cpu,
            "wall": time.perf_counter() - wall,
            "grew_mb": _peak_mb() - before,
        }
        if size_mb is not None:
            found["size_mb"] = size_mb(model)
        return {**found, **precision(best_five(model), test_marks)}

    return work


def best_columns(scores, k=5):
    """The k best columns of every row of a dense matrix, best first; ties to the lower column."""
    return np.argsort(-np.asarray(scores), axis=1, kind="stable")[:, :k]


def best_stored(scores, k=5):
    """The k best columns of every row of a sparse matrix; -1 where there are fewer."""
    best = np.full((scores.shape[0], k), -1)
    for row in range(scores.shape[0]):
        span = slice(scores.indptr[row], scores.indptr[row + 1])
        order = np.argsort(-scores.data[span], kind="stable")[:k]
        best[row, : len(order)] = scores.indices[span][order]
    return best


def precision(best, marks):
    """P@1, P@3 and P@5."""
    rows = np.arange(marks.shape[0])[:, None]
    hits = np.asarray(marks[rows, np.maximum(best, 0)].todense(), dtype=bool) & (best >= 0)
    return {f"p{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)}


def folder_mb(folder):
    """The size of all files below a folder."""
    sizes = [os.path.getsize(os.path.join(p, f)) for p, _, files in os.walk(folder) for f in files]
    return sum(sizes) / 1e6


def _peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
