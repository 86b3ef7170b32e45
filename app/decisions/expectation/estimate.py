"""Estimates what cuts reach on new documents, from held-out scores.

What cuts reach on the held-out scores they were chosen on is too good, by what cross-fitting shows
(cross_fit.py). The final model is fitted to more documents than those behind the held-out scores;
what that changes is told by a model of still fewer documents (growth.py). Intervals are for a test
set of a third of the documents tuned on (spread.py).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.expectation.cross_fit import ChoiceCounts, LabelCrossFit, cross_fit
from app.decisions.expectation.expectations import PRICES, Correction, Expectations
from app.decisions.expectation.growth import Growth
from app.decisions.expectation.macro_figures import macro_figures, seen_macro_figures
from app.decisions.expectation.spread import Spread
from app.heldout import HeldOut

RANDOM_PARTS = 5
"""Parts where all held-out scores come from one model."""


def estimated_expectations(held_out: HeldOut, seed: int = 0) -> Expectations | None:
    """The expectations of cuts tuned on these scores; None where nothing can be told."""
    parts = held_out.parts
    if parts is None:
        random = np.random.default_rng(seed)
        parts = random.permutation(held_out.n_documents).astype(np.int32) % RANDOM_PARTS
    if len(np.unique(parts)) < 2:
        return None
    labels = list(cross_fit(held_out, parts))
    if not labels:
        return None
    growth, spread = Growth.of(held_out), Spread.of(labels, held_out.n_documents)
    return Expectations(
        Correction(*_micro(labels, growth), *spread.micro),
        Correction(*_macro(labels, growth), *spread.macro),
    )


def _micro(labels: list[LabelCrossFit], growth: Growth) -> tuple[Any, Any]:
    """What to add to micro-precision and -recall, price by price."""
    n_parts, expected = len(labels[0].positives), []
    share = (n_parts - 1) / n_parts
    weights = [label.weight for label in labels]
    everywhere = _total([label.everywhere for label in labels], weights)
    inside = _total([label.inside for label in labels], weights)
    outside = _total([label.outside for label in labels], weights)
    positives = sum(label.weight * label.positives.sum() for label in labels)
    for seen, found, chosen_on in zip(everywhere, inside, outside, strict=True):
        # By chance a cut gains about as many documents whatever number it is chosen from: what it
        # gained on the parts that it was chosen on is what it gains on all documents.
        gained = chosen_on / n_parts - share * found
        expected.append(np.maximum(seen - gained, 0))
    tp, fp = expected[0] * growth.tp, expected[1] * growth.fp
    seen_tp, seen_fp = everywhere
    seen_precision = seen_tp / np.maximum(seen_tp + seen_fp, 1)
    return tp / np.maximum(tp + fp, 1) - seen_precision, (tp - seen_tp) / positives


def _total(counts: list[ChoiceCounts], weights: list[float]) -> NDArray[np.float64]:
    """(2, prices): right and wrong ones over all labels and parts."""
    total: NDArray[np.float64] = np.zeros((2, len(PRICES)))
    for own, weight in zip(counts, weights, strict=True):
        total += weight * np.reshape(own.by_price(), (2, -1, len(PRICES))).sum(axis=1)
    return total


def _macro(labels: list[LabelCrossFit], growth: Growth) -> tuple[Any, Any]:
    """What to add to macro-precision and -recall, β by β."""
    precision, recall = macro_figures(labels)
    seen_precision, seen_recall = seen_macro_figures(labels)
    return (
        precision + growth.macro_precision - seen_precision,
        recall + growth.macro_recall - seen_recall,
    )
