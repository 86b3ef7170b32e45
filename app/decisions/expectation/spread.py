"""Spread: how far a test set's figures scatter around what is expected.

Documents, not pairs of document and label, are what chance draws: the labels of one document are
found or missed together. So variances are sums over documents of how much each moves a figure
(its influence, by the delta method).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.cross_fit import LabelCrossFit
from app.decisions.expectation.expectations import BETAS, PRICES
from app.decisions.expectation.macro_figures import TEST_SHARE, chance_in_test

MEASURED_PRICES = np.array([0, 5, 9, 13, 17, len(PRICES) - 1])
MEASURED_BETAS = np.array([0, 4, 8, 12, len(BETAS) - 1])
"""The choices whose variance is measured; between them it is interpolated."""
TUNED_ON = 5.0
"""How much the documents tuned on add to a test set's own chance, in units of their own variance: 1
for the expectation, the rest for cuts and weights that others would have given (docs/decisions.md
has the study)."""


class Spread(NamedTuple):
    """Standard deviations of precision and recall: by price (micro), by β (macro)."""

    micro: tuple[NDArray[np.float64], NDArray[np.float64]]
    macro: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, labels: Sequence[LabelCrossFit], n_documents: int) -> "Spread":
        """The spread of the figures of a test set of `TEST_SHARE` of the documents."""
        factor = np.sqrt(1 / TEST_SHARE + TUNED_ON)
        micro = [_micro(labels, choice, n_documents) for choice in MEASURED_PRICES]
        macro = [_macro(labels, len(PRICES) + choice, n_documents) for choice in MEASURED_BETAS]
        return cls(
            _between(factor * np.array(micro), MEASURED_PRICES, len(PRICES)),
            _between(factor * np.array(macro), MEASURED_BETAS, len(BETAS)),
        )


def _between(deviations: NDArray[Any], places: NDArray[Any], n: int) -> tuple[Any, Any]:
    every = np.arange(n)
    return np.interp(every, places, deviations[:, 0]), np.interp(every, places, deviations[:, 1])


def _micro(labels: Iterable[LabelCrossFit], choice: int, n_documents: int) -> tuple[float, float]:
    """Standard deviations of micro-precision and -recall on all documents tuned on."""
    hits, assigned, positives = np.zeros((3, n_documents))
    for label in labels:
        right, wrong = _assigned(label, choice)
        hits[right] += label.weight
        assigned[right] += label.weight
        assigned[wrong] += label.weight
        positives[label.ranked.right_documents] += label.weight
    return _deviation(hits, assigned), _deviation(hits, positives)


def _macro(labels: Iterable[LabelCrossFit], choice: int, n_documents: int) -> tuple[float, float]:
    """The same of the macro averages over the labels that a test set has."""
    precision, recall = np.zeros((2, n_documents))
    weights = 0.0
    for label in labels:
        right, wrong = _assigned(label, choice)
        weight, n_right = label.weight * chance_in_test(label), len(label.ranked.right)
        weights += weight
        # Half a document more on each side: no label is as sure as three hits of three look.
        share = (len(right) + 0.5) / (len(right) + len(wrong) + 1)
        found = (len(right) + 0.5) / (n_right + 1)
        n_assigned = max(len(right) + len(wrong), 1)
        precision[right] += weight * (1 - share) / n_assigned
        precision[wrong] -= weight * share / n_assigned
        recall[label.ranked.right_documents] -= weight * found / n_right
        recall[right] += weight / n_right
    scale = max(weights, 1e-12)
    return float(np.linalg.norm(precision) / scale), float(np.linalg.norm(recall) / scale)


def _assigned(label: LabelCrossFit, choice: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The documents that the label's cut assigns rightly and wrongly."""
    ranked, cut = label.ranked, label.cuts[choice]
    right = ranked.right_documents[np.searchsorted(ranked.right, cut, side="right") :]
    return right, ranked.wrong_documents[np.searchsorted(ranked.wrong, cut, side="right") :]


def _deviation(part: NDArray[np.float64], whole: NDArray[np.float64]) -> float:
    """The standard deviation of Σ part / Σ whole over documents."""
    total = max(whole.sum(), 1.0)
    ratio = (part.sum() + 0.5) / (total + 1)
    return float(np.linalg.norm(part - ratio * whole) / total)
