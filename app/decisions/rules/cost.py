"""cost: a cut a label, for the least cost of its errors on held-out scores."""

from dataclasses import dataclass
from typing import ClassVar

from app.decisions.base import Basis, Rule, Use
from app.decisions.decision import Decision
from app.decisions.tuning.bagged_cuts import bagged_cuts
from app.decisions.tuning.cost import cost_vertices


@dataclass(frozen=True, slots=True)
class Cost(Rule):
    """`cost`: a wrong label costs `wrong`, a missed one `missed`; 1 each unless told otherwise."""

    syntax: ClassVar[str] = "cost"
    examples: ClassVar[tuple[str, ...]] = ("cost",)
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING})
    is_tuned: ClassVar[bool] = True

    def decision(self, basis: Basis) -> Decision:
        """Bagged cuts of every label's cheapest vertex."""
        held_out, hulls, options = basis.tuned_on()
        costs = options.costs(hulls.n_labels)
        cuts = hulls.cuts[cost_vertices(hulls, costs)]
        if options.resamples:
            cuts = bagged_cuts(
                held_out,
                cuts,
                costs.prices,
                resamples=options.resamples,
                seed=options.seed,
                in_log_ranks=True,
            )
        return Decision(cuts, self.name)
