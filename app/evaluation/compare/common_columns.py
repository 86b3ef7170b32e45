"""Several kept evaluations of the same documents, with one numbering of all their labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.evaluation.kept.counted_documents import CountedDocuments
from app.evaluation.kept.evaluation import OpenedEvaluation
from app.metrics.counting.cells import Cells
from app.metrics.counting.pairs import Pairs


@dataclass(frozen=True)
class ComparedSystem:
    """One evaluation, and the column of each of its labels among those of all."""

    counted: CountedDocuments
    names: list[str]
    columns: NDArray[np.int64]
    all_names: list[str]

    @property
    def width(self) -> int:
        """The number of common columns."""
        return len(self.all_names)

    def cells(self) -> Cells:
        """The tables in the common columns; a label that it does not know is never assigned."""
        own = self.counted.label_cells()
        tp, fp, fn = (np.zeros(self.width, np.int64) for _ in range(3))
        tp[self.columns], fp[self.columns], fn[self.columns] = own.tp, own.fp, own.fn
        return Cells(tp, fp, fn, len(self.counted) - tp - fp - fn)

    def blocks(self) -> Iterator[Pairs]:
        """The pairs of each block of documents, numbered over all blocks, in common columns."""
        for pairs in self.counted.pairs():
            yield Pairs(pairs.document, self.columns[pairs.column], pairs.kind)


def in_common_columns(
    evaluations: Sequence[OpenedEvaluation], *, with_zero_shot: bool
) -> list[ComparedSystem]:
    """Each evaluation with the labels that count, measured at every K that one of them has."""
    names = [one.names(with_zero_shot=with_zero_shot) for one in evaluations]
    all_names = sorted(set().union(*names))
    position = {name: column for column, name in enumerate(all_names)}
    k = tuple(sorted({k for one in evaluations for k in one.facts.k}))
    return [
        ComparedSystem(
            one.counted(k, with_zero_shot=with_zero_shot),
            own,
            np.array([position[name] for name in own], np.int64),
            all_names,
        )
        for one, own in zip(evaluations, names, strict=True)
    ]


def zero_shot_counts(evaluations: Sequence[OpenedEvaluation]) -> bool:
    """Whether labels that a system does not know count for it, as missed ones.

    They do where one was evaluated so, and where the systems know different labels.
    """
    first = evaluations[0].facts.labels
    return any(one.facts.include_test_labels or one.facts.labels != first for one in evaluations)
