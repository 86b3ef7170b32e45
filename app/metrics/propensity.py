"""Propensity-scored metrics: hits on rare labels count more (Jain et al. 2016)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import NEVER, TrueRanks, Values
from app.metrics.ndcg import best_dcg_at, discount

A, B = 0.55, 1.5


def inverse_propensities(training_counts: NDArray[np.int64], n_documents: int) -> Values:
    """1/p for each label: 1 + C·(N_l + B)^−A with C = (ln N − 1)(B + 1)^A.

    Below N = e training documents C would be negative, that is p above 1; it is then 0.
    """
    c = max(np.log(max(n_documents, 1)) - 1.0, 0.0) * (B + 1) ** A
    return np.asarray(1 + c * (training_counts + B) ** -A, dtype=np.float64)


def psp_at(ranked: TrueRanks, k: int) -> Values:
    """(documents, 2): Σ 1/p over the hits, and the largest such sum that k labels can reach."""
    is_hit = (ranked.rank <= k) & (ranked.rank != NEVER)
    gains = np.where(is_hit, ranked.weight, 0.0)
    return _gain_and_best(ranked, gains, _best_weights(ranked, k))


def psndcg_at(ranked: TrueRanks, k: int) -> Values:
    """(documents, 2): as `psp_at`, each term divided by log2(rank + 1) on both sides.

    Both sums of a document are then divided by the best DCG that its labels allow, as napkinXC
    and pyxclib do: a document with many labels counts no more than one with a single label.
    """
    is_hit = (ranked.rank <= k) & (ranked.rank != NEVER)
    by_rank = discount(np.where(is_hit, ranked.rank, 1))
    gains = np.where(is_hit, ranked.weight * by_rank, 0.0)
    sums = _gain_and_best(ranked, gains, _best_weights(ranked, k) * discount(ranked.place))
    return sums / best_dcg_at(ranked, k)[:, None]


def ratio_of_sums(sums: Sequence[float], n: float) -> float:
    """The gains of all documents over the best attainable ones; 0 without true labels."""
    gain, best = sums
    return gain / best if best else 0.0


def _best_weights(ranked: TrueRanks, k: int) -> Values:
    """(pairs): each document's k heaviest true labels, heaviest first, then zeros."""
    return np.where(ranked.place <= k, ranked.falling_weight, 0.0)


def _gain_and_best(ranked: TrueRanks, gains: Values, best: Values) -> Values:
    return np.stack([ranked.per_document(gains), ranked.per_document(best)], axis=1)


PSP_AT_K = RankingMetric(psp_at, width=2, figure=ratio_of_sums, needs_propensity=True)
PSNDCG_AT_K = RankingMetric(psndcg_at, width=2, figure=ratio_of_sums, needs_propensity=True)
