"""A decision on trained labels, given as the labels that they became."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.decisions.decision import Decision
from app.labels import Relabelling


@dataclass(frozen=True, slots=True)
class RelabelledDecision:
    """Assigns a label where one of the trained labels behind it passes; of too many the best."""

    decision: Decision
    relabelling: Relabelling

    @property
    def name(self) -> str:
        """As the user writes the rule."""
        return self.decision.name

    @property
    def cuts(self) -> NDArray[np.float32] | None:
        """The cut of each label; NaN for one that several were merged into."""
        cuts = self.decision.cuts
        return None if cuts is None else self.relabelling.cuts(cuts)

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels of each document, given the scores of the trained ones."""
        passes = replace(self.decision, most_labels=None).decide(scores)
        passing = np.where(passes, scores, np.float32(-np.inf))
        bound = replace(self.decision, cuts=None)
        return bound.decide(self.relabelling.best_scores(passing))
