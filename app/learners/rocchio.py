"""Rocchio: one prototype vector per label, and the cosine between it and a document.

After Rocchio's relevance feedback, as text categorization uses it (Yang 1999, section 4).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from app.arrays import Features, Truth
from app.learners.base import Fitting
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner


class Rocchio(LinearLearner):
    """Prototype = `beta` · mean of the label's documents − `gamma` · mean of all others.

    Negative components of a prototype are dropped: a word that is rarer in the label's documents
    than elsewhere says nothing. The prototype has length 1, as documents have: the score is a
    cosine.
    """

    kind: ClassVar[str] = "rocchio"
    feature_settings: ClassVar[Mapping[str, Any]] = {"scheme": "ltc", "stop_words": "english"}

    def __init__(self, beta: float = 16.0, gamma: float = 16.0) -> None:
        self.beta, self.gamma = beta, gamma

    def settings(self) -> dict[str, Any]:
        """Beta and gamma."""
        return {"beta": self.beta, "gamma": self.gamma}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one prototype per label."""
        prototypes = csr_array(features.T @ truth.astype(np.float32)).astype(np.float64)
        counts = np.asarray(truth.sum(axis=0), np.float64)
        labels, sums = prototypes.indices, prototypes.data
        terms = np.repeat(np.arange(prototypes.shape[0]), np.diff(prototypes.indptr))
        # Only a term that some document of the label has can have a positive component, so that
        # the mean of all others, which is dense, is never made as a whole.
        elsewhere = np.asarray(features.sum(axis=0), np.float64)[terms] - sums
        positive = self.beta * sums / counts[labels]
        negative = self.gamma * elsewhere / np.maximum(truth.shape[0] - counts, 1.0)[labels]
        prototypes.data = np.maximum(positive - negative, 0.0)
        self.weights = LabelWeights.of(_unit_columns(prototypes), np.zeros(len(counts), np.float32))
        return self


def _unit_columns(matrix: csr_array) -> csr_array:
    """The columns scaled to length 1; empty ones stay empty."""
    lengths: NDArray[np.float64] = np.sqrt(np.asarray((matrix * matrix).sum(axis=0)))
    scaled = csr_array(matrix @ diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)))
    scaled.eliminate_zeros()
    scaled.sort_indices()
    return scaled.astype(np.float32)
