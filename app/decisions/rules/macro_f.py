"""macro-f: a cut a label, each for its own highest F_β on held-out scores."""

from dataclasses import dataclass
from typing import ClassVar

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.macro_f import f_by_vertex, macro_f_vertices
from app.decisions.tuning.shrunk_cuts import shrunk_in_ranks
from app.decisions.tuning.vertex_cuts import vertex_cuts


@dataclass(frozen=True, slots=True)
class MacroF(Rule):
    """`macro-f`: the highest mean of the labels' F_β."""

    syntax: ClassVar[str] = "macro-f"
    examples: ClassVar[tuple[str, ...]] = ("macro-f",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """Bagged cuts of every label's best vertex, shrunk in ranks where that is asked for."""
        held_out, hulls, options = basis.tuned_on()
        vertices = macro_f_vertices(hulls, options.beta)
        values = f_by_vertex(hulls, options.beta)[vertices]
        cuts = vertex_cuts(held_out, hulls, vertices, values, options, in_log_ranks=True)
        return Decision(shrunk_in_ranks(held_out, cuts, options.shrinkage), self.name)
