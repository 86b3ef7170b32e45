"""From held-out scores to a stored decision: the tuners by the names that users write."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decisions.base import Decision
from app.decisions.rules.rank_cut import RankCut
from app.decisions.rules.score_cut import ScoreCut
from app.decisions.tuning.bagged_cuts import bagged_cuts
from app.decisions.tuning.hulls import Hulls, beside
from app.decisions.tuning.macro_f import f_by_vertex, macro_f_vertices
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.decisions.tuning.micromacro import micromacro_cuts, micromacro_pooled_cuts
from app.decisions.tuning.shrunk_cuts import shrunk_cuts
from app.errors import InvalidRequestError
from app.heldout import HeldOut


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """What a tuner may be told. `fbr`: labels whose F_β stays below it are cut by `fbr_kind`."""

    beta: float = 1.0
    fbr: float = 0.0
    fbr_kind: int = 1
    """0: such a label is never assigned; 1: its cut goes just below its highest score."""
    resamples: int = 100
    """Over how many resamples micro-f and macro-f average each cut (docs/decisions.md); 0: none,
    the cuts of the highest value on the held-out scores themselves."""
    draw: float = 0.0
    """How many positives the one cut for all labels counts as, beside a label's own (micro-f)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise InvalidRequestError("beta is a number above 0")
        if not 0 <= self.fbr <= 1:
            raise InvalidRequestError("fbr is an F value from 0 to 1")
        if not 0 <= self.resamples <= 10_000:
            raise InvalidRequestError("resamples is a whole number from 0 to 10000")
        if not 0 <= self.draw < np.inf:
            raise InvalidRequestError("draw is a number of at least 0")
        if self.fbr_kind not in (0, 1):
            raise InvalidRequestError("fbr_kind is 0 (never assigned) or 1 (highest score only)")


def tune(
    name: str, held_out: HeldOut, hulls: Hulls, options: TuningOptions | None = None
) -> Decision:
    """The decision of that name, tuned where there is something to tune.

    `zero`, `rank:K`, `micro-f`, `macro-f`, `micromacro` or `micromacro-pooled`.
    """
    options = options or TuningOptions()
    decision = untuned(name, held_out.n_labels)
    return decision or ScoreCut(TUNERS[name](held_out, hulls, options), name)


def untuned(name: str, n_labels: int) -> Decision | None:
    """The decision where the name says all of it; None where it is to be tuned."""
    kind, _, argument = name.partition(":")
    if kind == "rank":
        return RankCut(_rank(argument))
    if name == "zero":
        return ScoreCut.zero(n_labels)
    if name not in TUNERS:
        accepted = ", ".join(["zero", "rank:K", *TUNERS])
        raise InvalidRequestError(f"no such decision to train with; accepted: {accepted}")
    return None


def _rank(argument: str) -> int:
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise InvalidRequestError("rank:K needs a whole number K of at least 1, as in rank:3")
    return int(argument)


Cuts = NDArray[np.float32]


def _micro(held_out: HeldOut, hulls: Hulls, options: TuningOptions) -> Cuts:
    vertices = micro_f_vertices(hulls, options.beta)
    best = np.full(hulls.n_labels, micro_f(hulls, vertices, options.beta))
    cuts = _cuts(held_out, hulls, vertices, best, options)
    if not options.draw or not hulls.n_positives:
        return cuts
    return shrunk_cuts(held_out, cuts, draw=options.draw, beta=options.beta)


def _macro(held_out: HeldOut, hulls: Hulls, options: TuningOptions) -> Cuts:
    vertices = macro_f_vertices(hulls, options.beta)
    best = f_by_vertex(hulls, options.beta)[vertices]
    return _cuts(held_out, hulls, vertices, best, options)


TUNERS: dict[str, Callable[[HeldOut, Hulls, TuningOptions], Cuts]] = {
    "micro-f": _micro,
    "macro-f": _macro,
    "micromacro": lambda held_out, hulls, options: micromacro_cuts(held_out, options.seed),
    "micromacro-pooled": lambda held_out, hulls, options: micromacro_pooled_cuts(held_out),
}


def _cuts(
    held_out: HeldOut,
    hulls: Hulls,
    vertices: NDArray[np.int64],
    best: NDArray[np.float64],
    options: TuningOptions,
) -> Cuts:
    """The cuts of the vertices, steadied, with FBR.0 or FBR.1 (Yang 2001) for weak labels.

    `best` is the F_β that each label's cut is to serve.
    """
    cuts = hulls.cuts[vertices].copy()
    if options.resamples:
        prices = best / (1 + options.beta**2)
        cuts = bagged_cuts(held_out, cuts, prices, resamples=options.resamples, seed=options.seed)
    weak = (f_by_vertex(hulls, options.beta)[vertices] < options.fbr) & np.isfinite(cuts)
    top = hulls.cuts[hulls.offsets[:-1]]  # the next number above the highest score
    below_highest = beside(beside(top, -np.inf), -np.inf)
    cuts[weak] = below_highest[weak] if options.fbr_kind == 1 else np.inf
    return cuts
