"""Figures for groups of labels: by training frequency, by top branch of the labels file.

Ranking and samples figures of a group look at its labels alone, ranked among themselves, and at
the documents that carry at least one of them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.evaluation.measure.groups import LABEL_FREQUENCY
from app.evaluation.measure.tally import Tally
from app.labels import Taxonomy
from app.metrics.counting.cells import Cells
from app.metrics.counting.decision_figures import decision_figures
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.exact_sums import ExactSums
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.score_rows import ScoreRows
from app.metrics.counting.true_ranks import TrueRanks

Integers = NDArray[np.int64]
MOST_BRANCHES = 100


class LabelGroup:
    """Trained labels that have something in common, which `title` says in the report's words."""

    def __init__(
        self,
        title: dict[str, Any],
        columns: Integers,
        inverse: NDArray[np.float64] | None,
        n_labels: int,
    ) -> None:
        self.title, self.columns = title, columns
        self.inverse = None if inverse is None else np.append(inverse[columns], inverse[-1])
        self.documents = 0
        self._is_member = np.zeros(n_labels + 1, np.bool_)
        self._is_member[columns] = True
        self._sums: ExactSums | None = None

    def add(self, scores: ScoreRows, truth: Truth, pairs: Pairs, values: DocumentValues) -> None:
        """Measure one chunk; `values` says which K count and how 0/0 is read."""
        own = truth[:, self.columns]
        rows = np.flatnonzero(np.diff(own.indptr))
        if not len(rows):
            return
        ranked = TrueRanks.of_rows(scores.take(rows, self.columns), own[rows], self.inverse)
        is_own = self._is_member[np.minimum(pairs.column, len(self._is_member) - 1)]
        cells = pairs.take(is_own).cells(scores.n_documents, len(self.columns)).take(rows)
        self.documents += len(rows)
        self._sums = self._sums or ExactSums(values.width)
        self._sums.add(values.matrix(ranked, cells))

    def tally(self) -> Tally:
        """What was counted, to be added to another's counts."""
        limbs = {} if self._sums is None else {"limbs": self._sums.limbs}
        return {"documents": np.array([self.documents]), **limbs}

    def merge(self, tally: Tally) -> None:
        """Add what was counted of other documents."""
        self.documents += int(tally["documents"][0])
        if "limbs" in tally:
            self._sums = self._sums or ExactSums(tally["limbs"].shape[1])
            self._sums.merge(tally["limbs"])

    def figures(self, cells: Cells, values: DocumentValues) -> dict[str, Any]:
        """The group's entry; `cells` are the tables of all columns."""
        sums = np.zeros(values.width) if self._sums is None else self._sums.totals()
        return {
            **self.title,
            "labels": len(self.columns),
            "documents": self.documents,
            "ranking": values.ranking(sums),
            "decisions": decision_figures(cells.take(self.columns), values, sums),
        }


def label_groups(
    training_counts: NDArray[np.int64] | None, inverse: NDArray[np.float64] | None
) -> list[LabelGroup]:
    """The groups that have labels; none where the training frequencies are not known."""
    if training_counts is None or inverse is None:
        return []
    groups = LABEL_FREQUENCY.group(training_counts)
    members = {group: np.flatnonzero(groups == group) for group in np.unique(groups).tolist()}
    return [
        LabelGroup(dict(LABEL_FREQUENCY.bounds(group)), columns, inverse, len(groups))
        for group, columns in members.items()
    ]


def branch_groups(
    taxonomy: Taxonomy | None, inverse: NDArray[np.float64] | None
) -> list[LabelGroup]:
    """The top branches by their label; none where no label has a parent.

    The last group, whose branch is None, has the labels that no branch has, and those of the
    smallest branches where there are very many.
    """
    if taxonomy is None or not taxonomy.is_hierarchy:
        return []
    n_labels, roots = len(taxonomy.labels), taxonomy.roots()
    own, is_branch = roots[:n_labels], np.bincount(roots, minlength=len(roots)) > 1
    found, counts = np.unique(own[is_branch[own]], return_counts=True)
    largest = found[np.argsort(-counts, kind="stable")[:MOST_BRANCHES]].tolist()
    groups = [
        LabelGroup(_branch(taxonomy, root), np.flatnonzero(own == root), inverse, n_labels)
        for root in sorted(largest, key=taxonomy.label)
    ]
    others = np.flatnonzero(~np.isin(own, largest))
    return groups + [LabelGroup({"branch": None}, others, inverse, n_labels)] * bool(len(others))


def _branch(taxonomy: Taxonomy, root: int) -> dict[str, Any]:
    name = taxonomy.names[root]
    return {"branch": taxonomy.label(root), **({"name": name} if name else {})}
