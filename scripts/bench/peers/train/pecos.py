"""PECOS: its one-vs-rest and its tree, with its own defaults."""

import tempfile

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from timed_rounds import run_rounds
from training import best_stored, folder_mb, matrices, timed

X, Y, X_TEST, Y_TEST = matrices()
X, X_TEST, Y = X.astype(np.float32), X_TEST.astype(np.float32), csr_matrix(Y, dtype=np.float32)


def flat():
    """One-vs-rest."""
    return XLinearModel.train(X, Y, threads=1)


def tree():
    """Labels clustered by their documents, balanced, 16 children a node."""
    vectors = LabelEmbeddingFactory.create(Y, X, method="pifa")
    chain = Indexer.gen(vectors, threads=1)
    return XLinearModel.train(X, Y, C=chain, threads=1)


def best_five(model):
    """Loaded for prediction only, as its users do."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        ready = XLinearModel.load(folder, is_predict_only=True)
        return best_stored(ready.predict(X_TEST, only_topk=5, beam_size=10, threads=1))


def size_mb(model):
    """Its folder."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        return folder_mb(folder)


run_rounds(
    {
        "one-vs-rest": timed(flat, best_five, Y_TEST, size_mb),
        "with-folds": timed(flat, best_five, Y_TEST, size_mb),  # it has no cuts: one plain fit
        "tree": timed(tree, best_five, Y_TEST, size_mb),
    }
)
