"""Normalized discounted cumulative gain at K (Järvelin & Kekäläinen 2002)."""

import numpy as np

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import Integers, TrueRanks, Values


def dcg_at(ranked: TrueRanks, k: int) -> Values:
    """Discounted cumulative gain: Σ 1/log2(rank + 1) over the hits, for each document."""
    is_hit = ranked.rank <= k
    return ranked.per_document(np.where(is_hit, discount(np.where(is_hit, ranked.rank, 1)), 0.0))


def ndcg_at(ranked: TrueRanks, k: int) -> Values:
    """DCG over the best attainable DCG, for each document; 0 without true labels."""
    return np.asarray(dcg_at(ranked, k) / best_dcg_at(ranked, k))


def best_dcg_at(ranked: TrueRanks, k: int) -> Values:
    """The DCG of the best possible ranking, for each document; 1 without true labels."""
    ideal = np.concatenate([[1.0], np.cumsum(discount(np.arange(1, k + 1)))])
    return np.asarray(ideal[np.minimum(ranked.relevant, k)])


def discount(rank: Integers) -> Values:
    """1 / log2(rank + 1)."""
    return np.asarray(1.0 / np.log2(rank + 1.0))


NDCG_AT_K = RankingMetric(ndcg_at, is_headline=True)
