"""TuningOptions: the settings of tuned rules, as a recipe's [decision] section gives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.errors import InvalidRequestError
from app.metrics.costs import ErrorCosts

FORMER_NAMES = {"draw": "shrinkage"}
"""Names under which earlier recipes and manifests have a setting."""


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
    shrinkage: float = 0.0
    """How many positives the common cut of all labels counts as, beside a label's own (micro-f)."""
    wrong: float | list[float] = 1.0
    """What a wrong assignment costs (cost): one number, or one a label in their order."""
    missed: float | list[float] = 1.0
    """What a missed assignment costs, likewise."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise InvalidRequestError("beta is a number above 0")
        if not 0 <= self.fbr <= 1:
            raise InvalidRequestError("fbr is an F value from 0 to 1")
        if not 0 <= self.resamples <= 10_000:
            raise InvalidRequestError("resamples is a whole number from 0 to 10000")
        if not 0 <= self.shrinkage < np.inf:
            raise InvalidRequestError("shrinkage is a number of at least 0")
        if self.fbr_kind not in (0, 1):
            raise InvalidRequestError("fbr_kind is 0 (never assigned) or 1 (highest score only)")
        for name, cost in (("wrong", self.wrong), ("missed", self.missed)):
            _check_cost(name, cost)

    def costs(self, n_labels: int) -> ErrorCosts:
        """The costs of each label's errors."""
        given = np.asarray(self.wrong, np.float64), np.asarray(self.missed, np.float64)
        if any(cost.shape not in ((), (n_labels,)) for cost in given):
            raise InvalidRequestError(f"costs are one number for all labels, or {n_labels} numbers")
        wrong, missed = (np.broadcast_to(cost, n_labels) for cost in given)
        return ErrorCosts(wrong, missed)


def _check_cost(name: str, cost: Any) -> None:
    values = cost if isinstance(cost, list) else [cost]
    if not all(type(value) in (int, float) and 0 <= value < np.inf for value in values):
        raise InvalidRequestError(f"{name} is a cost: a number of at least 0, or one a label")


def with_current_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings under the names they have now; where both are given, the current one counts.

    >>> with_current_names({"draw": 10, "beta": 2.0})
    {'shrinkage': 10, 'beta': 2.0}
    """
    current = {FORMER_NAMES.get(name, name): value for name, value in settings.items()}
    return {**current, **{name: settings[name] for name in current if name in settings}}
