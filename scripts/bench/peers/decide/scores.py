"""A peer's scores: of every training document by folds, and of the test documents.

    python scores.py NAME IN.npz OUT.npz

LibMultiLabel's techniques bring their own cut, so they give scores of the test documents only.
"""

import os
import sys
import tempfile

import numpy as np
from scipy.sparse import csr_matrix
from xmc_file import row_columns, row_pairs, write_xmc

name, given, wanted = sys.argv[1:]
data = np.load(given)
X = csr_matrix((data["values"], data["columns"], data["starts"]), shape=data["shape"])
Y = csr_matrix(data["truth"].astype(np.float32))
X_TEST = csr_matrix(
    (data["test_values"], data["test_columns"], data["test_starts"]), shape=data["test_shape"]
)


def libmultilabel(technique):
    """Its decision values; assigned above 0."""
    import libmultilabel.linear as linear

    def score(rows, truth, others):
        train = getattr(linear, f"train_{technique}")
        model = train(truth.astype("d"), rows.astype("d"), False, "-s 1 -B 1 -e 0.0001")
        return np.asarray(linear.predict_values(model, others.astype("d")))

    return score


def pecos(is_tree):
    """PECOS with its defaults; every label of the test documents is asked for."""
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    def score(rows, truth, others):
        rows, others = rows.astype(np.float32), others.astype(np.float32)
        chain = None
        if is_tree:
            chain = Indexer.gen(LabelEmbeddingFactory.create(truth, rows, method="pifa"), threads=1)
        model = XLinearModel.train(rows, truth, C=chain, threads=1)
        options = {"only_topk": truth.shape[1], "beam_size": 10, "threads": 1}
        return stored(model.predict(others, **options))

    return score


def omikuji(rows, truth, others):
    """Three trees, its default."""
    import omikuji as peer

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.txt")
        write_xmc(path, rows, row_columns(truth), truth.shape[1])
        model = peer.Model.train_on_data(path, n_threads=1)
    scores = np.full((others.shape[0], truth.shape[1]), -np.inf, np.float32)
    for i in range(others.shape[0]):
        for label, value in model.predict(row_pairs(others, i), top_k=truth.shape[1]):
            scores[i, label] = value
    return scores


def stored(found):
    """What is stored; -inf elsewhere."""
    scores = np.full(found.shape, -np.inf, np.float32)
    pairs = found.tocoo()
    scores[pairs.row, pairs.col] = pairs.data
    return scores


SCORERS = {
    "pecos-one-vs-rest": lambda: pecos(False),
    "pecos-tree": lambda: pecos(True),
    "omikuji": lambda: omikuji,
}
held_out = np.zeros((0, 0), np.float32)
if name in SCORERS:
    score, folds = SCORERS[name](), data["folds"]
    held_out = np.full(Y.shape, -np.inf, np.float32)
    for fold in np.unique(folds):
        inside = folds == fold
        held_out[inside] = score(X[~inside], Y[~inside], X[inside])
else:
    score = libmultilabel(name)
np.savez(wanted, held_out=held_out, test=np.asarray(score(X, Y, X_TEST), np.float32))
