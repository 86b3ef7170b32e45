"""Averaged perceptrons: one per label, corrected document by document (CLASSI's kind of learner).

After Rosenblatt (1958), with the mean of all weight vectors in place of the last one (Freund &
Schapire 1999), which is what makes it hold on new documents.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.csr_rows import CsrRows
from app.learners.base import LTC_FEATURES, Fitting
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner
from app.learners.ordered_map import results_of

LANES = 16


class Perceptron(LinearLearner):
    """`epochs` passes over the documents, each in an order of its own; all labels see the same."""

    kind: ClassVar[str] = "perceptron"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(self, epochs: int = 10) -> None:
        if epochs < 1:
            raise InvalidRequestError("perceptron epochs: a whole number, 1 or more")
        self.epochs = epochs

    def settings(self) -> dict[str, Any]:
        """How often the documents are seen."""
        return {"epochs": self.epochs}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one weight vector per label, sixteen at once."""
        fitting = fitting or Fitting()
        rows, order = _with_bias(features), self._order(features.shape[0], fitting.seed)
        by_label, n_features = truth.tocsc(), features.shape[1] + 1
        train = kernels("solver.perceptron").averaged_perceptrons

        def block(first: int) -> csr_array:
            weights = np.zeros((n_features, LANES), np.float32)
            train(rows, _signs(by_label, first), order, weights)
            return csr_array(weights[:, : truth.shape[1] - first])

        starts = range(0, truth.shape[1], LANES)
        parts = results_of(block, starts, fitting.jobs, fitting.progress)
        weights = csr_array(hstack(parts, format="csr"))
        bias = weights[[-1]].toarray()[0]
        self.weights = LabelWeights.of(csr_array(weights[:-1]), bias, rounded=True)
        return self

    def _order(self, n_documents: int, seed: int) -> NDArray[np.int32]:
        pick = np.random.default_rng(seed)
        passes = [pick.permutation(n_documents) for _ in range(self.epochs)]
        return np.concatenate(passes).astype(np.int32)


def _with_bias(features: Features) -> tuple[Any, ...]:
    """The rows with one more feature, which is 1 in every document."""
    ones = csr_array(np.ones((features.shape[0], 1), np.float32))
    rows = csr_array(hstack([features, ones], format="csr"))
    return tuple(CsrRows.of(rows))


def _signs(by_label: Any, first: int) -> NDArray[np.int8]:
    """1 where a document has the label, else -1; 0 in lanes that have no label."""
    n_documents, n_labels = by_label.shape
    signs = np.zeros((n_documents, LANES), np.int8)
    width = min(LANES, n_labels - first)
    signs[:, :width] = -1
    for lane in range(width):
        own = slice(by_label.indptr[first + lane], by_label.indptr[first + lane + 1])
        signs[by_label.indices[own], lane] = 1
    return signs
