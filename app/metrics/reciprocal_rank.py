"""The rank of the first true label: mean reciprocal rank, and one-error."""

from collections.abc import Sequence

import numpy as np

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import NEVER, TrueRanks, Values


def reciprocal_rank(ranked: TrueRanks) -> Values:
    """1 / rank of the first true label, for each document; 0 without one."""
    first = (ranked.place == 1) & (ranked.rank != NEVER)
    return ranked.per_document(np.where(first, 1.0 / np.where(first, ranked.rank, 1), 0.0))


def first_is_true(ranked: TrueRanks) -> Values:
    """1 for each document whose best-ranked label is true, else 0."""
    return ranked.per_document(ranked.rank == 1)


def one_minus_mean(sums: Sequence[float], n: float) -> float:
    """1 − the mean over documents; 1 without documents."""
    return 1 - sums[0] / n


MRR = RankingMetric(reciprocal_rank, title="MRR", is_headline=True)
ONE_ERROR = RankingMetric(first_is_true, figure=one_minus_mean, is_loss=True)
