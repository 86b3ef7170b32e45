"""Cuts at hull vertices, averaged over resamples, with Yang's treatment of weak labels."""

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.bagged_cuts import bagged_cuts
from app.decisions.tuning.hulls import Hulls, beside, shares_highest
from app.decisions.tuning.macro_f import f_by_vertex
from app.decisions.tuning.options import TuningOptions
from app.heldout import Column, HeldOut


def vertex_cuts(
    held_out: HeldOut,
    hulls: Hulls,
    vertices: NDArray[np.int64],
    best: NDArray[np.float64],
    options: TuningOptions,
    *,
    in_log_ranks: bool = False,
) -> NDArray[np.float32]:
    """The cuts of the vertices, bagged, with FBR.0 or FBR.1 (Yang 2001) for weak labels.

    `best` is the F_β that each label's cut is to serve; `in_log_ranks` as in `bagged_cuts`.
    """
    cuts = hulls.cuts[vertices].copy()
    if options.resamples:
        prices = best / (1 + options.beta**2)
        cuts = bagged_cuts(
            held_out,
            cuts,
            prices,
            resamples=options.resamples,
            seed=options.seed,
            in_log_ranks=in_log_ranks,
        )
    return with_weak_labels(held_out, hulls, vertices, cuts, options)


def with_weak_labels(
    held_out: HeldOut,
    hulls: Hulls,
    vertices: NDArray[np.int64],
    cuts: NDArray[np.float32],
    options: TuningOptions,
) -> NDArray[np.float32]:
    """The cuts, those of labels whose F_β stays below `fbr` replaced."""
    weak = (f_by_vertex(hulls, options.beta)[vertices] < options.fbr) & np.isfinite(cuts)
    cuts[weak] = np.inf
    if options.fbr_kind == 1:
        for label in np.flatnonzero(weak).tolist():
            cuts[label] = below_highest(held_out.column(label))
    return cuts


def below_highest(column: Column) -> np.float32:
    """The cut just below a label's highest score (FBR.1), by which its best document is assigned.

    Where more documents share that score than carry the label, it is infinite (FBR.0): tied scores
    would hand the label to all of them.
    """
    is_shared, highest = shares_highest(column)
    return np.float32(np.inf if is_shared else beside(highest, -np.inf))
