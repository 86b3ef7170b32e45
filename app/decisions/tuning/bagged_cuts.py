"""Bagged cuts: each label's best cut averaged over resampled documents.

The cut that is best on one sample of documents sits in a chance gap between two scores; the average
over many resamples (bagging) lies where the trade changes for good. Which documents a label has to
win or lose is read from its points; a resample draws every document 0, 1, 2, … times (Poisson).
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
) -> NDArray[np.float32]:
    """The mean over resamples of the cut with the highest TP − price·(TP + FP), label by label.

    A price is the share of right ones that a step must have to pay: that of the best F_β, which is
    F_β / (1 + β²), see app/decisions/tuning/micro_f.py. Labels without a positive keep their cut.
    """
    random = np.random.default_rng(seed)
    bagged = cuts.copy()
    for label, column in enumerate(held_out.columns()):
        if column.marks.any():
            bagged[label] = _mean_cut(thinned(points(column)), prices[label], resamples, random)
    return bagged


def _mean_cut(
    candidates: Points, price: float, resamples: int, random: np.random.Generator
) -> float:
    shape = (resamples, len(candidates.tp) - 1)
    right = random.poisson(np.diff(candidates.tp), shape)
    wrong = random.poisson(np.diff(candidates.fp), shape)
    gains = np.zeros((resamples, len(candidates.tp)))
    np.cumsum((1 - price) * right - price * wrong, axis=1, out=gains[:, 1:])
    return float(candidates.cuts[np.argmax(gains, axis=1)].mean(dtype=np.float64))
