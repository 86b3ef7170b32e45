"""Macro-averaged figures of cross-fitted cuts, as a test set of a third of the documents has them.

They depend on the size of a test set: a label that has no document in it does not count, and one
with a single document is found or not. So they are taken on single parts and on pairs of parts of
the held-out documents, the test sets next in size.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.cross_fit import ChoiceCounts, LabelCrossFit
from app.decisions.expectation.expectations import BETAS

TEST_SHARE = 1 / 3
"""The size of a test set beside that of the documents tuned on, for splits from 4:1 to 2:1."""


class Figures(NamedTuple):
    """Precision and recall by β."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]


def macro_figures(labels: Sequence[LabelCrossFit]) -> Figures:
    """Figures over the labels that a test set has, of cuts chosen on other parts."""
    totals, weights = np.zeros((2, len(BETAS))), 0.0
    for label in labels:
        weight = label.weight * chance_in_test(label)
        totals += weight * _mean_figures(label.inside.by_beta(), label.positives)
        weights += weight
    return Figures(*(totals / weights))


def seen_macro_figures(labels: Sequence[LabelCrossFit]) -> Figures:
    """Figures over all labels on all held-out documents, of cuts chosen on them."""
    figures = [_ratios(own.everywhere.by_beta(), int(own.positives.sum())) for own in labels]
    return Figures(*np.average(figures, axis=0, weights=[own.weight for own in labels]))


def chance_in_test(label: LabelCrossFit) -> float:
    """The chance that a test set has a document with the label."""
    return float(1 - np.exp(-label.positives.sum() * TEST_SHARE))


def _mean_figures(counts: ChoiceCounts, positives: NDArray[np.int64]) -> NDArray[np.float64]:
    """A label's figures on the parts that have it and on such pairs, weighed by their size."""
    n_parts = len(positives)
    single = np.clip(2 - n_parts * TEST_SHARE, 0, 1) if n_parts > 2 else 1.0
    figures: NDArray[np.float64] = np.zeros((2, len(BETAS)))
    for size, weight in ((1, single), (2, 1 - single)):
        groups = [list(group) for group in combinations(range(n_parts), size)]
        found = [
            _ratios(ChoiceCounts(*(own[group].sum(axis=0) for own in counts)), int(total))
            for group in groups
            if (total := positives[group].sum())
        ]
        if weight and found:
            figures += weight * np.mean(found, axis=0)
    return figures


def _ratios(counts: ChoiceCounts, positives: int) -> NDArray[np.float64]:
    """(2, β): precision and recall; 0/0 is 0."""
    assigned: Any = np.maximum(counts.tp + counts.fp, 1)
    return np.array([counts.tp / assigned, counts.tp / max(positives, 1)])
