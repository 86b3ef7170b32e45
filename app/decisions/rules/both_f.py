"""both-f: a cut a label, for the highest micro-F_β plus macro-F_β on held-out scores."""

from dataclasses import dataclass
from typing import ClassVar

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.both_f import bagged_both_cuts, both_f_vertices
from app.decisions.tuning.shrunk_cuts import shrunk_in_ranks
from app.decisions.tuning.vertex_cuts import with_weak_labels


@dataclass(frozen=True, slots=True)
class BothF(Rule):
    """`both-f`: next to the micro-F_β of `micro-f`, and more macro-F_β."""

    syntax: ClassVar[str] = "both-f"
    examples: ClassVar[tuple[str, ...]] = ("both-f",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """Cuts averaged over resamples, shrunk in ranks where that is asked for."""
        held_out, hulls, options = basis.tuned_on()
        vertices, worth = both_f_vertices(hulls, options.beta)
        cuts = hulls.cuts[vertices].copy()
        if options.resamples:
            cuts = bagged_both_cuts(
                held_out, cuts, worth, resamples=options.resamples, seed=options.seed
            )
        cuts = shrunk_in_ranks(held_out, cuts, options.shrinkage)
        return Decision(with_weak_labels(held_out, hulls, vertices, cuts, options), self.name)
