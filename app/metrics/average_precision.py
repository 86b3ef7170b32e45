"""Average precision of a label: how far up its true documents stand among all documents."""

import numpy as np

from app.metrics.base import LabelMetric
from app.metrics.counting.ranked_positives import Integers, LabelBins, RankedPositives


def average_precision(ranked: RankedPositives) -> float | None:
    """Σ over true documents of the precision at their score, over their number.

    As scikit-learn's `average_precision_score`; None without true documents. A true document
    without a score is never found and adds 0.

    >>> from app.metrics.counting.ranked_positives import ranked_positives
    >>> marks = np.array([True, False, True])
    >>> round(average_precision(ranked_positives(np.float32([0.9, 0.8, 0.7]), marks)), 4)
    0.8333
    """
    if not ranked.positives:
        return None
    gained = np.diff(ranked.tp, prepend=0)
    return float((gained * (ranked.tp / ranked.assigned)).sum() / ranked.positives)


def average_precision_bounds(bins: LabelBins) -> tuple[float, float]:
    """Average precision if every bin's true documents come last in it, and if they come first."""
    true, every = bins.true, bins.every
    before_true, before = np.cumsum(true) - true, np.cumsum(every) - every
    upper = _precisions_if_first(true, before_true, before)
    lower = _precisions_if_last(true, before_true, before + every - true)
    # Under the lowest bin nothing is known: those documents add anything from nothing to all.
    below = bins.true_below * bins.positives / max(int(every.sum()) + bins.true_below, 1)
    return lower / bins.positives, (upper + below) / bins.positives


def _precisions_if_first(true: Integers, before_true: Integers, before: Integers) -> float:
    """Σ of the precisions of a bin's true documents if they come first, or are all tied."""
    precision = (before_true + true) / np.maximum(before + true, 1)
    return float((true * precision).sum())


def _precisions_if_last(true: Integers, before_true: Integers, before: Integers) -> float:
    """The same if they come last: Σ over i = 1…t of (a + i) / (b + i), in closed form."""
    from scipy.special import digamma  # slow to import, and seldom needed

    harmonic = digamma(before + true + 1.0) - digamma(before + 1.0)
    return float((true - (before - before_true) * harmonic)[true > 0].sum())


AVERAGE_PRECISION = LabelMetric(average_precision, title="AP", bounds=average_precision_bounds)
