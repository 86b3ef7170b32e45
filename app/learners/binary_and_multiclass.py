"""Binary and multiclass: one label per document, all classes in one LIBLINEAR problem."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Truth
from app.errors import InvalidDataError
from app.learners.base import Fitting
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner
from app.learners.linear.options import SOLVERS, parse_options


class BinaryAndMulticlass(LinearLearner):
    """Linear scores of exclusive labels; Crammer–Singer (-s 4) compares them with one another.

    Labels that were never seen in training have no score, so they are never predicted.
    """

    kind: ClassVar[str] = "binary-and-multiclass"
    vectorizer_kind: ClassVar[str] = "tfidf"
    zero_is_neutral: ClassVar[bool] = False

    def __init__(self, options: str = "-s 1 -c 1 -B 1") -> None:
        self.options = options
        self._parsed = parse_options(options, solvers=SOLVERS)

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn from documents that have exactly one label each."""
        _require_one_label(truth)
        classes = np.unique(truth.indices)
        shape = (features.shape[1], truth.shape[1])
        bias = np.full(shape[1], -np.inf, np.float32)
        bias[classes] = 0.0
        weights = np.zeros((shape[0], 0))
        if len(classes) > 1:
            seed = (fitting or Fitting()).seed
            weights, classes = _columns(features, truth, self._parsed, seed)
            if self._parsed.bias is not None:
                bias[classes] = weights[-1] * self._parsed.bias
                weights = weights[:-1]
        self.weights = LabelWeights.of(_spread(weights, classes, shape), bias)
        return self

    def settings(self) -> dict[str, Any]:
        """The options of LIBLINEAR."""
        return {"options": self.options}

    def for_labels(self, labels: NDArray[np.int64]) -> None:
        """None: labels are learnt together."""


def _require_one_label(truth: Truth) -> None:
    counts = np.diff(truth.indptr)
    wrong = np.flatnonzero(counts != 1)
    if len(wrong):
        raise InvalidDataError(
            f"document {wrong[0] + 1} of the training data has {counts[wrong[0]]} labels",
            accepted="exactly one label a document for binary-and-multiclass",
        )


def _columns(
    features: Features, truth: Truth, options: Any, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    from app.learners.linear.liblinear import LiblinearProblem  # its package imports a compiler

    marks = truth.indices.astype(np.float64)
    weights, classes = LiblinearProblem(features, options.bias).train(marks, options, seed=seed)
    if weights.shape[1] == 1:  # two classes, one vector: the second class is its mirror
        weights = np.hstack([weights, -weights])
    return weights, np.asarray(classes)


def _spread(weights: NDArray[Any], classes: NDArray[Any], shape: tuple[int, int]) -> csr_array:
    """The classes' columns among those of all labels."""
    features, columns = np.nonzero(weights)
    values = weights[features, columns].astype(np.float32)
    spread = csr_array((values, (features, classes[columns])), shape=shape)
    spread.sort_indices()
    return spread
