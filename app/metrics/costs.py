"""What errors cost, label by label: one that is wrongly assigned, and one that is missed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from app.metrics.counting.cells import Cells, Values

LISTED = 20


class ErrorCosts(NamedTuple):
    """The costs of each label's errors; one number where all labels have the same."""

    wrong: Values | float = 1.0
    missed: Values | float = 1.0

    def of(self, fp: Any, fn: Any) -> Values:
        """wrong · FP + missed · FN, label by label.

        >>> ErrorCosts(1.0, np.array([5.0, 1.0])).of(np.array([2, 0]), np.array([1, 3])).tolist()
        [7.0, 3.0]
        """
        return np.asarray(self.wrong * fp + self.missed * fn, np.float64)

    @property
    def prices(self) -> Values:
        """The share of right assignments from which assigning pays: wrong / (wrong + missed).

        1 where errors cost nothing: then nothing is worth assigning.
        """
        wrong, missed = np.broadcast_arrays(*map(np.float64, self))
        both = wrong + missed
        return np.where(both > 0, wrong / np.where(both > 0, both, 1), 1.0)


@dataclass(frozen=True, slots=True)
class CostTable:
    """The costs by label name, and those of all labels without a row of their own."""

    default: ErrorCosts = ErrorCosts()  # noqa: RUF009 - an immutable tuple
    by_label: Mapping[str, ErrorCosts] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    """Where each label stands in the file, for warnings."""

    def of(self, names: Sequence[str]) -> ErrorCosts:
        """The costs of these labels, in their order."""
        rows = [self.by_label.get(name, self.default) for name in names]
        columns = np.array(rows, np.float64).reshape(-1, 2)
        return ErrorCosts(columns[:, 0], columns[:, 1])

    def settings(self, names: Sequence[str]) -> dict[str, Any]:
        """`wrong` and `missed` as a recipe has them: a number, or a list where labels differ."""
        costs = self.of(names)._asdict()
        return {name: _compact(values.tolist()) for name, values in costs.items()}

    def unknown(self, names: Sequence[str]) -> list[str]:
        """A sentence for each label of the table that is none of these; the first 20, and how many.

        >>> CostTable(places={"corn": "costs.tsv:3", "wheat": "costs.tsv:4"}).unknown(["corn"])
        ["costs.tsv:4: no such label: 'wheat'"]
        """
        strange = [label for label in self.places if label not in set(names)]
        listed = [f"{self.places[label]}: no such label: {label!r}" for label in strange[:LISTED]]
        more = len(strange) - len(listed)
        return [*listed, f"{more} further labels with costs are not known"] if more else listed


def cost_figures(cells: Cells, costs: ErrorCosts, least: float) -> dict[str, float]:
    """The cost of all errors, the same a document, of assigning nothing, of the best cuts."""
    total, n_documents = float(costs.of(cells.fp, cells.fn).sum()), _documents(cells)
    return {
        "total": total,
        "per_document": total / max(n_documents, 1),
        "nothing": float(costs.of(0 * cells.support, cells.support).sum()),
        "best_cuts": least,
    }


def _documents(cells: Cells) -> int:
    sizes = cells.tp + cells.fp + cells.fn + cells.tn
    return int(sizes.max(initial=0))


def _compact(values: list[float]) -> float | list[float]:
    return values[0] if len(set(values)) == 1 else values
