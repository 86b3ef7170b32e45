"""LRAP, coverage error and ranking loss, with scikit-learn's ties and empty cases.

The number of columns is given at the end, because zero-shot labels are only all known then. Labels
without a score are tied below all others.
"""

import numpy as np
from numpy.typing import NDArray

from app.metrics.ranking import TrueRanks

Values = NDArray[np.float64]
Integers = NDArray[np.int64]


def label_ranking_parts(ranked: TrueRanks) -> tuple[Values, Integers, Integers, Integers]:
    """What a document's three values rest on, whatever the number of columns.

    Σ over its scored true labels of (true labels at least as high / labels at least as high);
    labels scored at least as high as its lowest scored true label; wrongly ordered pairs (ties
    count as wrong) of scored true labels; true labels without a score.
    """
    n = len(ranked.relevant)
    scored = ranked.at_least > 0
    true_at_least = _last_place_of_ties(ranked)
    ratio = np.where(scored, true_at_least / np.maximum(ranked.at_least, 1), 0.0)
    wrong = np.where(scored, ranked.at_least - true_at_least, 0)
    covered = np.zeros(n, np.int64)
    np.maximum.at(covered, ranked.document, ranked.at_least)
    unscored = ranked.per_document(~scored).astype(np.int64)
    wrong_pairs = ranked.per_document(wrong.astype(np.float64)).astype(np.int64)
    return ranked.per_document(ratio), covered, wrong_pairs, unscored


def lrap(relevant: Integers, ratio: Values, unscored: Integers, n_columns: int) -> Values:
    """Label ranking average precision of each document; 1 without true labels."""
    unscored_ratio = unscored * relevant / max(n_columns, 1)
    value = (ratio + unscored_ratio) / np.maximum(relevant, 1)
    return np.where(relevant == 0, 1.0, value)


def coverage(covered: Integers, unscored: Integers, n_columns: int) -> Integers:
    """How far down each document's ranking one must go to find all true labels; 0 without any."""
    return np.where(unscored > 0, n_columns, covered)


def ranking_loss(relevant: Integers, wrong: Integers, unscored: Integers, n_columns: int) -> Values:
    """Share of (true, other) pairs in the wrong order; 0 where all labels or none are true."""
    others = n_columns - relevant
    pairs = relevant * others
    return np.asarray((wrong + unscored * others) / np.maximum(pairs, 1) * (pairs > 0))


def _last_place_of_ties(ranked: TrueRanks) -> Integers:
    """(pairs): true labels of the document scored at least as high, itself included."""
    place = ranked.place
    if not len(place):
        return place
    tied = (np.diff(ranked.document) == 0) & (np.diff(ranked.at_least) == 0)
    ends = np.flatnonzero(np.append(~tied, True))
    return place[ends[np.searchsorted(ends, np.arange(len(place)))]]
