"""From held-out scores to the decision of a name."""

from app.decisions.base import Basis, Use
from app.decisions.decision import Decision
from app.decisions.names import decision_of
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.heldout import HeldOut


def tune(
    name: str, held_out: HeldOut, hulls: Hulls, options: TuningOptions | None = None
) -> Decision:
    """The decision of that name, tuned where there is something to tune."""
    basis = Basis(
        held_out.n_labels, held_out=held_out, hulls=hulls, options=options or TuningOptions()
    )
    return decision_of(name, Use.TRAINING, basis)
