"""Trial: a candidate at one C, and what it decided rightly and wrongly on the shared folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.held_out_figures import figures_of
from app.training.recipe import MemberRecipe


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate at one C, and what it decided rightly and wrongly, fold by fold."""

    name: str
    members: tuple[MemberRecipe, ...]
    counts: NDArray[np.int64]
    """(folds, labels, 3): TP, FP and FN at cuts of the other folds."""
    seconds: float
    """CPU seconds of the trials of this candidate, all values of C together, also by workers."""
    n_features: int
    scores: NDArray[np.float32] | None = None
    """(scored documents, labels): held out; kept of each candidate's best C alone."""

    @property
    def title(self) -> str:
        """Its name, with its C."""
        return self.name if self.cost is None else f"{self.name}, C = {self.cost:g}"

    def figures(self) -> dict[str, Any]:
        """What the manifest keeps."""
        told = figures_of(self.counts.sum(axis=0))
        about = {"name": self.title, "features": self.n_features}
        return about | {name: told[name] for name in ("micro_f1", "macro_f1")}

    @property
    def cost(self) -> float | None:
        """Its C, where the search has chosen one."""
        c = self.members[0].settings.get("c")
        return None if c is None or len(self.members) > 1 else float(c)
