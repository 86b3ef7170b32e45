"""Naive Bayes: terms are independent of one another, given the label or its absence."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.kernels.linear.types import LinearArrays
from app.learners.base import LTC_FEATURES, Contributions, Fitting
from app.learners.linear.dense_weights import check_size, full_rows, label_blocks
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner

EVENTS = ("multinomial", "bernoulli")


class NaiveBayes(LinearLearner):
    """The log-odds of each label against its absence.

    `event`: `multinomial` (a text draws its terms, so weights of terms count) or `bernoulli` (each
    term is there or not); McCallum & Nigam (1998). `alpha` is added to every count.
    """

    kind: ClassVar[str] = "naive-bayes"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(self, event: str = "multinomial", alpha: float = 0.1) -> None:
        if event not in EVENTS:
            raise InvalidRequestError(f"naive-bayes event: one of {', '.join(EVENTS)}")
        if alpha <= 0:
            raise InvalidRequestError("naive-bayes alpha: a number above 0")
        self.event, self.alpha = event, alpha

    def settings(self) -> dict[str, Any]:
        """Event model and smoothing."""
        return {"event": self.event, "alpha": self.alpha}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Count terms with and without each label."""
        _check_values(features)
        check_size(self.kind, features.shape[1], truth.shape[1])
        counts = np.asarray(truth.sum(axis=0), np.float64)
        prior = np.log(counts + self.alpha) - np.log(truth.shape[0] - counts + self.alpha)
        # A term of other folds alone must not count: each of thousands would add to every bias.
        is_seen = np.bincount(features.indices, minlength=features.shape[1]) > 0
        weights, bias = self._weighed(features[:, is_seen], truth, counts)
        matrix = full_rows(weights, is_seen)
        self.weights = LabelWeights.of(matrix, (prior + bias).astype(np.float32), rounded=True)
        return self

    def _weighed(
        self, features: Features, truth: Truth, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The weights of all terms and labels, and what is added to the labels' priors."""
        weigh = self._multinomial if self.event == "multinomial" else self._bernoulli
        weights = np.empty((features.shape[1], truth.shape[1]), np.float32)
        bias, by_label = np.zeros(truth.shape[1]), csc_array(truth)
        # Every step below makes float64 of a block: of all labels at once that were gigabytes.
        for labels in label_blocks(*weights.shape):
            weights[:, labels], bias[labels] = weigh(features, by_label[:, labels], counts[labels])
        return weights, bias

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Log-odds; of the Bernoulli model for terms that are there, whatever their weight."""
        return super().scores(self._events(features), jobs=jobs)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions] | None:
        """What each term adds to the log-odds; of the Bernoulli model by being there."""
        ones = values if self.event == "multinomial" else np.ones_like(values)
        return super().contributions(columns, ones, labels)

    def linear_weights(self) -> LinearArrays | None:
        """None for the Bernoulli model: its terms have no weights to multiply with."""
        return super().linear_weights() if self.event == "multinomial" else None

    def _events(self, features: Features) -> Features:
        return features if self.event == "multinomial" else presence(features)

    def _multinomial(
        self, features: Features, truth: Truth, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """ln of the term's share with the label over its share without it."""
        within = (features.T @ truth.astype(np.float64)).toarray() + self.alpha
        without = np.asarray(features.sum(axis=0), np.float64)[:, None] + 2 * self.alpha - within
        log_odds = np.log(within / within.sum(axis=0)) - np.log(without / without.sum(axis=0))
        return log_odds, np.zeros(len(counts))

    def _bernoulli(
        self, features: Features, truth: Truth, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a term's presence adds to the log-odds, and the log-odds where all are absent."""
        present = presence(features).astype(np.float64)
        within = (present.T @ truth.astype(np.float64)).toarray()
        without = np.asarray(present.sum(axis=0))[:, None] - within
        p = (within + self.alpha) / (counts + 2 * self.alpha)
        q = (without + self.alpha) / (truth.shape[0] - counts + 2 * self.alpha)
        absent = np.log1p(-p) - np.log1p(-q)
        return np.log(p) - np.log(q) - absent, absent.sum(axis=0)


def presence(features: Features) -> csr_array:
    """1 where a feature is not 0."""
    return csr_array(features).astype(np.bool_).astype(np.float32)


def _check_values(features: Features) -> None:
    if features.data.min(initial=0.0) < 0:
        raise InvalidRequestError(
            "naive-bayes counts terms: its features are 0 or more, and these data have negative "
            "ones; for such features take svm-rbf or one-vs-rest"
        )
