"""LinearProblem: what the linear solvers are given, and their solutions combined."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Truth
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.options import LinearOptions
from app.resources.scratch import release


class SolvedLabels(NamedTuple):
    """Some labels' weights: (features, labels, values) of those not pruned, and each one's bias."""

    labels: NDArray[Any]
    bias: NDArray[np.float32]
    weights: tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class LinearProblem:
    """Documents, the truth by label, options, and a factor on the cost of each label's positives.

    Weights of at most `cut` in size are left out of the answer. Where `ratios` is above 0, each
    label's features are multiplied with their count ratios to that power (count_ratios.py); the
    weights that are answered are those of the features as they are.
    """

    features: Features
    truth: csc_array
    options: LinearOptions
    costs: NDArray[np.float64]
    cut: float = 0.0
    ratios: float = 0.0

    @classmethod
    def of(
        cls,
        features: Features,
        truth: Truth,
        options: LinearOptions,
        *,
        costs: NDArray[Any] | None = None,
        cut: float = 0.0,
        ratios: float = 0.0,
    ) -> "LinearProblem":
        """The problem of every label, with equal costs unless some are given."""
        factors = np.ones(truth.shape[1]) if costs is None else np.asarray(costs, np.float64)
        return cls(features, csc_array(truth), options, factors, cut, ratios)

    @property
    def n_documents(self) -> int:
        """How many documents there are to learn from."""
        return int(self.truth.shape[0])

    def positives(self, label: int) -> NDArray[Any]:
        """The documents that carry a label."""
        span = slice(self.truth.indptr[label], self.truth.indptr[label + 1])
        documents: NDArray[Any] = self.truth.indices[span]
        return documents

    def learnable(self) -> NDArray[Any]:
        """The labels that some documents have and some lack, the most frequent first.

        Labels of like frequency need like numbers of visits, so they are trained together.
        """
        counts = np.diff(self.truth.indptr)
        order = np.argsort(-counts, kind="stable")
        learnable: NDArray[Any] = order[(counts[order] > 0) & (counts[order] < self.n_documents)]
        return learnable

    def combined(self, solutions: Iterable[SolvedLabels]) -> LabelWeights:
        """All labels' weights; labels that nothing was solved for get their constant score."""
        counts = np.diff(self.truth.indptr)
        bias = constant_scores(counts > 0, self.n_documents, self.options)
        pieces = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))]
        for solved in solutions:
            bias[solved.labels] = solved.bias
            pieces.append(solved.weights)
        features, labels, values = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
        shape = (self.features.shape[1], len(bias))
        weights = csr_array((values, (features, labels)), shape=shape)
        weights.sort_indices()
        return LabelWeights.of(weights, bias, rounded=self.cut > 0)


def cut_for(features: Features, prune: float) -> float:
    """Where weights are cut: at `prune` for documents of length 1, lower for longer ones."""
    length = float(np.sqrt(_total(features, np.square) / max(features.shape[0], 1)))
    return prune / length if length > 0 else 0.0


def mean_sum(features: Features) -> float:
    """The sum of an average document's numbers, without their signs; 1 where all are 0."""
    total = _total(features, np.abs)
    return total / features.shape[0] if total > 0 else 1.0


SUMMED = 1 << 20
"""Values that are summed at once: a multiple of numpy's own buffer, so that the bits are those of
one sum."""


def _total(features: Features, of: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
    """The sum of a function of all values, with no array as long as they are."""
    total = 0.0
    for start in range(0, len(features.data), SUMMED):
        values = of(features.data[start : start + SUMMED])
        total = np.add.reduce(values, dtype=np.float64, initial=total)
        release(features.data)
    return float(total)


def constant_scores(
    is_positive: NDArray[np.bool_], n_documents: int, options: LinearOptions
) -> NDArray[np.float32]:
    """The score of a label that all documents have, or none: the margin, or cautious log-odds."""
    size = np.log(2 * n_documents + 1) if options.is_logistic else 1.0
    return np.where(is_positive, size, -size).astype(np.float32)
