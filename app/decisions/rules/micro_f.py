"""micro-f: a cut a label, for the highest micro-F_β on held-out scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.decisions.tuning.shrunk_cuts import shrunk_cuts
from app.decisions.tuning.vertex_cuts import vertex_cuts


@dataclass(frozen=True, slots=True)
class MicroF(Rule):
    """`micro-f`, the default."""

    syntax: ClassVar[str] = "micro-f"
    examples: ClassVar[tuple[str, ...]] = ("micro-f",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """Bagged cuts of the best vertices, shrunk to the common cut where that is asked for."""
        held_out, hulls, options = basis.tuned_on()
        vertices = micro_f_vertices(hulls, options.beta)
        value = np.full(hulls.n_labels, micro_f(hulls, vertices, options.beta))
        cuts = vertex_cuts(held_out, hulls, vertices, value, options)
        if options.shrinkage and hulls.n_positives:
            cuts = shrunk_cuts(held_out, cuts, shrinkage=options.shrinkage, beta=options.beta)
        return Decision(cuts, self.name)
