"""Figures for groups of documents: by number of true labels, by length."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.groups import Edges
from app.evaluation.measure.tally import Integers, Tally, joined, part
from app.evaluation.storage.document_records import Records
from app.metrics.counting.decision_figures import decision_figures
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import Pairs


class DocumentGroups:
    """One way to group documents by a field of their records."""

    def __init__(self, field: str, edges: Edges, n_labels: int) -> None:
        self.field, self.edges, self.n_labels = field, edges, n_labels
        self._counts: dict[int, LabelCounts] = {}
        self._sums: dict[int, NDArray[np.float64]] = {}

    def add(self, records: Records, pairs: Pairs) -> None:
        """Count one chunk's decisions."""
        groups = self.edges.group(records[self.field])
        for group in np.unique(groups).tolist():
            chosen = groups == group
            counts = self._counts.setdefault(group, LabelCounts(self.n_labels))
            counts.add(int(chosen.sum()), pairs.take(chosen[pairs.document]))

    def tally(self) -> Tally:
        """What was counted, to be added to another's counts."""
        return joined({str(group): counts.tally() for group, counts in self._counts.items()})

    def merge(self, tally: Tally, columns: Integers) -> None:
        """Add what was counted of other documents; `columns` as `LabelCounts` has them."""
        for group in sorted({int(name.partition("/")[0]) for name in tally}):
            counts = self._counts.setdefault(group, LabelCounts(self.n_labels))
            counts.merge(part(tally, str(group)), columns)

    def add_values(self, records: Records, matrix: NDArray[np.float64]) -> None:
        """Sum the documents' values; done at the end, when the number of columns is known."""
        groups = self.edges.group(records[self.field])
        for group in np.unique(groups).tolist():
            total = matrix[groups == group].sum(axis=0)
            self._sums[group] = self._sums.get(group, 0.0) + total

    def figures(self, values: DocumentValues, n_columns: int) -> list[dict[str, Any]]:
        """One entry a group that has documents."""
        return [self._entry(group, values, n_columns) for group in sorted(self._counts)]

    def _entry(self, group: int, values: DocumentValues, n_columns: int) -> dict[str, Any]:
        counts, sums = self._counts[group], self._sums[group]
        cells = counts.cells(n_columns)
        return {
            **self.edges.bounds(group),
            "labels": int((cells.support > 0).sum()),
            "documents": counts.documents,
            "ranking": values.ranking(sums),
            "decisions": decision_figures(cells, values, sums),
        }
