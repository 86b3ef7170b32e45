"""WORD: no learning; a document gets the labels whose names it is most like (Yang 1999, section 4).

A label's name and description, from the labels file or from the label itself, are a small document.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.linear.label_weights import LabelWeights
from app.learners.linear.linear_learner import LinearLearner


class Word(LinearLearner):
    """The cosine between a document and the words that a label is called and described by.

    Documents with labels serve to weigh words by their rarity and to tune cuts, no more.
    """

    kind: ClassVar[str] = "word"
    reads_label_names: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = {
        "scheme": "ltc",
        "stop_words": "english",
        "stemmer": "english",
    }

    def __init__(self) -> None:
        self._labels: NDArray[np.int64] | None = None

    def settings(self) -> dict[str, Any]:
        """None."""
        return {}

    def for_labels(self, labels: NDArray[np.int64]) -> "Word":
        """The same, of these labels among all that have names."""
        learner = Word()
        learner._labels = labels
        return learner

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Take the labels' rows as they are."""
        rows = (fitting or Fitting()).label_rows
        if rows is None:
            raise InvalidRequestError("word compares texts with labels' names: it needs texts")
        if rows.shape[1] != features.shape[1]:
            raise InvalidRequestError("word reads all terms of a text: leave out features.select")
        rows = rows if self._labels is None else rows[self._labels]
        weights = csr_array(rows.T.tocsr())
        weights.sort_indices()
        self.weights = LabelWeights.of(weights, np.zeros(truth.shape[1], np.float32))
        return self
