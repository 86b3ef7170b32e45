"""Ratings: how many annotators judged each document, and how many of them gave each label.

A label that was given or not is a nominal value of two categories. What two coefficients share is
counted here: values of two annotators that differ, label by label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ratings:
    """The values of all annotators, summed over annotators; who gave which does not matter."""

    judges: Counts
    """(documents,): the annotators that judged each document."""
    given: Any
    """csr_array (documents, labels): how many of those gave the label; never more than judged."""
    n_annotators: int

    def of(self, documents: NDArray[np.bool_]) -> "Ratings":
        """The same of some documents."""
        return Ratings(self.judges[documents], self.given[documents], self.n_annotators)

    @property
    def n_values(self) -> int:
        """Values of each label: one a document and annotator that judged it."""
        return int(self.judges.sum())

    @property
    def n_given(self) -> Values:
        """(labels,): values that say the label was given."""
        return np.asarray(self.given.sum(axis=0), np.float64).ravel()

    def observed(self) -> Values:
        """(labels,): the share of values that differ from another annotator's on the document.

        A document of m judges, k of which gave the label, has 2k(m−k)/(m−1) such values: each value
        counts with the share of the other m−1 that differ. Every document needs two judges.
        """
        judges = np.repeat(self.judges, np.diff(self.given.indptr)).astype(np.float64)
        k = self.given.data.astype(np.float64)
        differing = 2 * k * (judges - k) / (judges - 1)
        sums = np.bincount(self.given.indices, differing, minlength=self.given.shape[1])
        return sums / max(self.n_values, 1)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """1 − observed / expected disagreement: 1 is agreement without fail, 0 what chance would give.

    NaN where chance leaves nothing to disagree about: all values are equal, or there is none.
    """

    overall: float
    """Both disagreements summed over the labels, then divided."""
    labels: Values

    @classmethod
    def of(cls, observed: Values, expected: Values) -> "Coefficients":
        """The coefficients of the labels' disagreements, by label and over all labels."""
        overall = _coefficient(observed.sum(keepdims=True), expected.sum(keepdims=True))
        return cls(float(overall[0]), _coefficient(observed, expected))


def _coefficient(observed: Values, expected: Values) -> Values:
    is_defined = expected > 0
    return np.where(is_defined, 1 - observed / np.where(is_defined, expected, 1), np.nan)
