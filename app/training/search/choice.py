"""Choice: the best of the trials, and how much of its lead is owed to having been chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.training.search.crossed_cuts import Objective
from app.training.search.trial import Trial


@dataclass(frozen=True, slots=True)
class Winner:
    """The best trial, its worth on the folds, and the same if each fold had not been seen."""

    trial: Trial
    value: float
    corrected: float

    @property
    def optimism(self) -> float:
        """What the winner's figure owes to the choice."""
        return max(0.0, self.value - self.corrected)


def choice(trials: Sequence[Trial], objective: Objective) -> Winner:
    """The trial of the highest value, the first among equals; chosen again without each fold.

    Each fold is then counted by the trial that the other folds alone would have chosen.
    """
    values = [objective.value(trial.counts.sum(axis=0)) for trial in trials]
    best = int(np.argmax(values))
    n_folds = len(trials[best].counts)
    counts = sum(_without(trials, objective, fold).counts[fold] for fold in range(n_folds))
    return Winner(trials[best], values[best], objective.value(np.asarray(counts)))


def _without(trials: Sequence[Trial], objective: Objective, fold: int) -> Trial:
    """The trial that the other folds choose."""
    values = [objective.value(np.delete(t.counts, fold, axis=0).sum(axis=0)) for t in trials]
    return trials[int(np.argmax(values))]
