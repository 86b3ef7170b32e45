"""Bagged cuts: each label's best cut averaged over resampled documents.

The cut that is best on one sample of documents sits in a chance gap between two scores; the average
over many resamples (bagging) lies where the trade changes for good. Which documents a label has to
win or lose is read from its points; a resample draws every document 0, 1, 2, … times (Poisson).
Cuts are averaged by how many documents lie above them, not by their scores, so that no score counts
for more because it lies far off.
"""

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import Points, points, thinned
from app.heldout import HeldOut


def bagged_cuts(
    held_out: HeldOut,
    cuts: NDArray[np.float32],
    prices: NDArray[np.float64],
    *,
    resamples: int,
    seed: int,
    in_log_ranks: bool = False,
) -> NDArray[np.float32]:
    """The cut at the mean rank over resamples of the highest TP − price·(TP + FP), label by label.

    A price is the share of right ones that a step must have to pay: that of the best F_β, which is
    F_β / (1 + β²), see app/decisions/tuning/micro_f.py. `in_log_ranks`: the mean of the logarithms,
    for prices that are very low for some labels: few resamples that assign nearly everything would
    outweigh all others. Labels without a positive keep their cut.
    """
    random = np.random.default_rng(seed)
    bagged = cuts.copy()
    for label, column in enumerate(held_out.columns()):
        if column.marks.any():
            candidates = thinned(points(column))
            best = best_places(candidates, prices[label], resamples, random)
            bagged[label] = cut_at_mean_rank(candidates, best, in_log_ranks=in_log_ranks)
    return bagged


def cut_at_mean_rank(candidates: Points, places: NDArray[np.int64], *, in_log_ranks: bool) -> float:
    """The cut at the mean rank of those candidates, or at the mean of the ranks' logarithms."""
    ranks = (candidates.tp + candidates.fp).astype(np.float64)
    ranks = np.log1p(ranks) if in_log_ranks else ranks
    return _cut_at(ranks[places].mean(), ranks, candidates.cuts)


def _cut_at(rank: float, ranks: NDArray[np.float64], cuts: NDArray[np.float32]) -> float:
    """The cut between those of the ranks beside it; infinite where such a first cut is nearest."""
    if np.isfinite(cuts[0]):
        return float(np.interp(rank, ranks, cuts))
    return float(np.inf if rank < ranks[1] / 2 else np.interp(rank, ranks[1:], cuts[1:]))


def best_places(
    candidates: Points, price: float, resamples: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """The best candidate of every resample."""
    shape = (resamples, len(candidates.tp) - 1)
    right = random.poisson(np.diff(candidates.tp), shape)
    wrong = random.poisson(np.diff(candidates.fp), shape)
    gains = np.zeros((resamples, len(candidates.tp)))
    np.cumsum((1 - price) * right - price * wrong, axis=1, out=gains[:, 1:])
    places: NDArray[np.int64] = np.argmax(gains, axis=1)
    return places
