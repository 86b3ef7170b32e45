"""Objectives: which F1 a training is to raise, as the name of its decision says."""

from app.errors import InvalidRequestError
from app.training.search.crossed_cuts import Objective

OBJECTIVES = {"micro": Objective(), "macro": Objective(0, 1), "both": Objective(1, 1)}
DECISIONS = {"micro": "micro-f", "macro": "macro-f", "both": "both-f"}
"""The decision that serves each."""
OTHER_DECISIONS = {"micromacro": "both", "micromacro-pooled": "both"}


def objective_of(decision: str) -> Objective:
    """What a search maximises for a decision: micro-F1 unless it is one for macro-F1 or both."""
    names = {name: objective for objective, name in DECISIONS.items()} | OTHER_DECISIONS
    return OBJECTIVES[names.get(decision, "micro")]


def decision_for(objective: str) -> str:
    """The decision of an objective."""
    if objective not in DECISIONS:
        raise InvalidRequestError(f"no such objective; accepted: {', '.join(DECISIONS)}")
    return DECISIONS[objective]
