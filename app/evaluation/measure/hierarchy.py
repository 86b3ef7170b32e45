"""Hierarchy: decisions counted with the ancestors that a labels file gives the labels."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.evaluation.measure.tally import Tally
from app.labels import Taxonomy
from app.metrics.counting.hierarchical_counts import OUTSIDE, HierarchicalCounts
from app.metrics.counting.pairs import Pairs


@dataclass(frozen=True)
class Hierarchy:
    """The counts, and where the labels of the report stand in the taxonomy."""

    counts: HierarchicalCounts
    n_labels: int
    further: dict[str, int] = field(repr=False)
    """Entries that the model does not have: a label of the test set may be one of them."""

    @classmethod
    def of(cls, taxonomy: Taxonomy | None) -> Self | None:
        """Nothing counted yet; None where no label has a parent."""
        if taxonomy is None or not taxonomy.is_hierarchy:
            return None
        n = len(taxonomy.labels)
        further = {label: n + place for place, label in enumerate(taxonomy.further)}
        return cls(HierarchicalCounts(taxonomy.parents, taxonomy.depths), n, further)

    def add(self, pairs: Pairs, names: list[str]) -> None:
        """Count one chunk; `names` are those of all columns, zero-shot ones last."""
        zero_shot = [self.further.get(name, OUTSIDE) for name in names[self.n_labels :]]
        nodes = np.append(np.arange(self.n_labels), np.array(zero_shot, np.int64))
        self.counts.add(pairs, nodes)

    def tally(self) -> Tally:
        """What was counted, to be added to another's counts."""
        return {"counts": np.array([self.counts.tp, self.counts.fp, self.counts.fn])}

    def merge(self, tally: Tally) -> None:
        """Add what was counted of other documents."""
        tp, fp, fn = tally["counts"].tolist()
        self.counts.tp, self.counts.fp = self.counts.tp + tp, self.counts.fp + fp
        self.counts.fn += fn
