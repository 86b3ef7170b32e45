"""Made-up training data for the learners' tests: labels that some words speak for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def made_up(
    n_documents: int, n_labels: int, *, n_features: int = 60, seed: int = 0
) -> tuple[Any, Any]:
    """Rows of length 1 with a few empty ones, and labels that linear weights mostly explain."""
    pick = np.random.default_rng(seed)
    dense = pick.random((n_documents, n_features)) * (pick.random((n_documents, n_features)) < 0.15)
    dense[3::29] = 0
    lengths = np.sqrt((dense**2).sum(axis=1, keepdims=True))
    dense = dense / np.where(lengths > 0, lengths, 1)
    weights = pick.normal(size=(n_features, n_labels))
    noise = pick.normal(scale=0.2, size=(n_documents, n_labels))
    scores = dense @ weights + noise
    truth = scores > np.quantile(scores, np.linspace(0.5, 0.97, n_labels), axis=0).diagonal()
    return csr_array(dense.astype(np.float32)), marks(truth)


def marks(dense: NDArray[np.bool_]) -> Any:
    """A truth matrix."""
    truth = csr_array(dense)
    truth.sort_indices()
    return truth


def one_label_each(n_documents: int, n_labels: int, seed: int = 0) -> tuple[Any, Any]:
    """Data in which every document has exactly one label."""
    features, _ = made_up(n_documents, 2, seed=seed)
    best = (features @ np.random.default_rng(seed).normal(size=(60, n_labels))).argmax(axis=1)
    return features, marks(np.eye(n_labels, dtype=np.bool_)[best])
