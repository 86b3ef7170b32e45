"""Average precision of a label: how far up its true documents stand among all documents."""

import numpy as np

from app.metrics.base import LabelMetric
from app.metrics.counting.ranked_positives import RankedPositives


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


AVERAGE_PRECISION = LabelMetric(average_precision, title="AP")
