"""LRAP, coverage error and ranking loss, with scikit-learn's ties and empty cases.

Tied labels all stand at the worst of their ranks. Labels without a score, zero-shot ones among
them, are tied below all others.
"""

import math

import numpy as np

from app.metrics.base import RankingMetric
from app.metrics.counting.true_ranks import Integers, TrueRanks, Values


def lrap(ranked: TrueRanks) -> Values:
    """Label ranking average precision of each document; 1 without true labels.

    The mean over true labels of (true labels at least as high / labels at least as high).
    """
    scored = ranked.at_least > 0
    shares = np.where(scored, ranked.true_at_least / np.maximum(ranked.at_least, 1), 0.0)
    unscored_shares = _unscored(ranked) * ranked.relevant / max(ranked.n_columns, 1)
    total = ranked.per_document(shares) + unscored_shares
    return np.where(ranked.relevant == 0, 1.0, total / np.maximum(ranked.relevant, 1))


def coverage_error(ranked: TrueRanks) -> Values:
    """How far down each document's ranking one must go to find all true labels; 0 without any."""
    lowest = np.zeros(len(ranked.relevant), np.int64)
    np.maximum.at(lowest, ranked.document, ranked.at_least)
    return np.where(_unscored(ranked) > 0, ranked.n_columns, lowest).astype(np.float64)


def ranking_loss(ranked: TrueRanks) -> Values:
    """Share of (true, other) pairs in the wrong order; 0 where all labels or none are true.

    A pair of equal scores counts as wrong.
    """
    scored = ranked.at_least > 0
    above = np.where(scored, ranked.at_least - ranked.true_at_least, 0)
    wrong = ranked.per_document(above.astype(np.float64)).astype(np.int64)
    others = ranked.n_columns - ranked.relevant
    pairs = ranked.relevant * others
    wrong_pairs = wrong + _unscored(ranked) * others
    return np.asarray(wrong_pairs / np.maximum(pairs, 1) * (pairs > 0))


def _unscored(ranked: TrueRanks) -> Integers:
    """True labels of each document that have no score."""
    return ranked.per_document(ranked.at_least == 0).astype(np.int64)


LRAP = RankingMetric(lrap, title="LRAP", is_headline=True)
COVERAGE_ERROR = RankingMetric(coverage_error, is_loss=True, upper=math.inf)
RANKING_LOSS = RankingMetric(ranking_loss, is_loss=True)
