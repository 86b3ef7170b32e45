"""Precision, recall and R-precision of the K best-ranked labels."""

import numpy as np

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import TrueRanks, Values


def hits_at(ranked: TrueRanks, k: int) -> Values:
    """True labels among the first k, for each document; ties go to the lower column."""
    return ranked.per_document(ranked.rank <= k)


def precision_at(ranked: TrueRanks, k: int) -> Values:
    """hits / k for each document, also where there are fewer than k labels."""
    return hits_at(ranked, k) / k


def recall_at(ranked: TrueRanks, k: int) -> Values:
    """hits / true labels for each document; 0 without true labels."""
    return hits_at(ranked, k) / np.maximum(ranked.relevant, 1)


def r_precision_at(ranked: TrueRanks, k: int) -> Values:
    """hits / min(k, true labels) for each document; 0 without true labels."""
    return hits_at(ranked, k) / np.maximum(np.minimum(ranked.relevant, k), 1)


PRECISION_AT_K = RankingMetric(precision_at, is_headline=True)
RECALL_AT_K = RankingMetric(recall_at)
R_PRECISION_AT_K = RankingMetric(r_precision_at)
