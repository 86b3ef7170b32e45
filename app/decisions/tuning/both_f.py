"""The cuts of the highest micro-F_β plus macro-F_β that cost next to no micro-F_β.

Near the best cuts, micro-F_β changes with one label's cut by (b·TP − F·(TP + FP)) / N, where b is
1 + β², F the micro-F_β reached and N its denominator TP + FP + β²·P over all labels. Beside that
every label adds its own F_β, shared among the labels. Given F and N, labels are cut on their own;
F and N are those of the cuts found, after a few rounds. Macro-F_β counts as much as micro-F_β, or
so much less that the micro-F_β of the held-out documents falls by `MOST_LOSS` at most.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.bagged_cuts import cut_at_mean_rank
from app.decisions.tuning.hulls import Hulls, Points, points, thinned
from app.decisions.tuning.macro_f import f_by_vertex
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.heldout import HeldOut

ROUNDS = 5
MOST_LOSS = 0.0015
WEIGHTS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.0)
"""Of macro-F_β beside micro-F_β; the first that does not cost too much is taken."""


class BothWorth(NamedTuple):
    """What counts of one label are worth to both averages, given what all labels reach."""

    micro: float
    """Micro-F_β of all labels."""
    denominator: float
    """TP + FP + β²·P of all labels."""
    n_labels: int
    """Labels that a document has."""
    beta: float = 1.0
    weight: float = 1.0
    """How much macro-F_β counts beside it."""

    def of(self, tp: NDArray[Any], fp: NDArray[Any], positives: NDArray[Any]) -> Any:
        """The worth of each cut, in micro-F_β plus macro-F_β."""
        factor, decided = 1 + self.beta**2, tp + fp
        own = factor * tp / np.maximum(decided + self.beta**2 * positives, 1)
        shared = (factor * tp - self.micro * decided) / max(self.denominator, 1)
        return shared + self.weight * own / max(self.n_labels, 1)


def both_f_vertices(hulls: Hulls, beta: float = 1.0) -> tuple[NDArray[np.int64], BothWorth]:
    """Each label's vertex of the highest sum, and what cuts are worth there."""
    highest = micro_f_vertices(hulls, beta)
    least = micro_f(hulls, highest, beta) - MOST_LOSS
    for weight in WEIGHTS:
        vertices, worth = _weighted_vertices(hulls, highest, beta, weight)
        if worth.micro >= least:
            break
    return vertices, worth


def _weighted_vertices(
    hulls: Hulls, vertices: NDArray[np.int64], beta: float, weight: float
) -> tuple[NDArray[np.int64], BothWorth]:
    """The same at one weight of macro-F_β, starting from some vertices."""
    positives = hulls.positives[hulls.label_of_vertex]
    worth = _worth_at(hulls, vertices, beta, weight)
    for _ in range(ROUNDS):
        vertices = hulls.highest(worth.of(hulls.tp, hulls.fp, positives))
        worth = _worth_at(hulls, vertices, beta, weight)
    return vertices, worth


def both_f(hulls: Hulls, vertices: NDArray[np.int64], beta: float = 1.0) -> float:
    """Micro-F_β plus macro-F_β over the labels that a document has, at the given vertices."""
    seen = hulls.positives > 0
    macro = f_by_vertex(hulls, beta)[vertices][seen].mean() if seen.any() else 0.0
    return micro_f(hulls, vertices, beta) + float(macro)


def _worth_at(hulls: Hulls, vertices: NDArray[np.int64], beta: float, weight: float) -> BothWorth:
    decided = int(hulls.tp[vertices].sum()) + int(hulls.fp[vertices].sum())
    denominator = decided + beta**2 * hulls.n_positives
    n_labels = int(np.count_nonzero(hulls.positives))
    return BothWorth(micro_f(hulls, vertices, beta), denominator, n_labels, beta, weight)


def bagged_both_cuts(
    held_out: HeldOut,
    cuts: NDArray[np.float32],
    worth: BothWorth,
    *,
    resamples: int,
    seed: int,
) -> NDArray[np.float32]:
    """The cut at the mean log rank over resamples of the highest worth, label by label.

    Labels without a positive keep their cut.
    """
    random, bagged = np.random.default_rng(seed), cuts.copy()
    for label, column in enumerate(held_out.columns()):
        if column.marks.any():
            candidates = thinned(points(column))
            places = _best_places(candidates, column.positives, worth, resamples, random)
            bagged[label] = cut_at_mean_rank(candidates, places, in_log_ranks=True)
    return bagged


def _best_places(
    candidates: Points,
    positives: int,
    worth: BothWorth,
    resamples: int,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """The best candidate of every resample."""
    shape = (resamples, len(candidates.tp) - 1)
    tp, fp = np.zeros((2, resamples, len(candidates.tp)), np.int64)
    np.cumsum(random.poisson(np.diff(candidates.tp), shape), axis=1, out=tp[:, 1:])
    np.cumsum(random.poisson(np.diff(candidates.fp), shape), axis=1, out=fp[:, 1:])
    unscored = random.poisson(positives - int(candidates.tp[-1]), (resamples, 1))
    places: NDArray[np.int64] = np.argmax(worth.of(tp, fp, tp[:, -1:] + unscored), axis=1)
    return places
