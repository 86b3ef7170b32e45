"""Metrics that the catalogue does not have, at least one a family, as a contributor writes them."""

import numpy as np

from app.metrics.base import (
    DecisionMetric,
    DocumentDecisionMetric,
    LabelMetric,
    Measure,
    RankingMetric,
)
from app.metrics.counting.cells import Averaging, Cells, Values
from app.metrics.counting.ranked_positives import RankedPositives
from app.metrics.counting.true_ranks import TrueRanks


def f1_at(ranked: TrueRanks, k: int) -> Values:
    """2 · hits / (k + true labels) for each document."""
    return 2 * ranked.per_document(ranked.rank <= k) / (k + ranked.relevant)


def share_found_first(ranked: TrueRanks) -> Values:
    """1 for each document whose true labels all come before the others; 1 without any."""
    return (
        np.asarray(ranked.per_document(ranked.rank > ranked.relevant[ranked.document]) == 0) * 1.0
    )


def specificity(cells: Cells, averaging: Averaging) -> Values:
    """TN / (TN + FP)."""
    return averaging.ratio(cells.tn, cells.tn + cells.fp)


def labels_found(cells: Cells, averaging: Averaging) -> float | None:
    """The share of labels that were rightly assigned at least once."""
    return float((cells.tp > 0).mean()) if len(cells.tp) else None


def no_wrong_label(cells: Cells) -> Values:
    """1 for each document without a wrong label."""
    return (cells.fp == 0) * 1.0


def precision_of_first(ranked: RankedPositives) -> float | None:
    """The precision at the best-scored true document's score; None without true documents."""
    if not ranked.positives:
        return None
    return float(ranked.tp[0] / ranked.assigned[0]) if len(ranked.tp) else 0.0


F1_AT_K = RankingMetric(f1_at, is_headline=True)
PERFECT_RANKING = RankingMetric(share_found_first)
SPECIFICITY = Measure(specificity, title="spec.")
LABELS_FOUND = DecisionMetric(labels_found)
NO_WRONG_LABEL = DocumentDecisionMetric(no_wrong_label)
PRECISION_OF_FIRST = LabelMetric(precision_of_first, title="first")
