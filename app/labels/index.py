"""LabelIndex: label names on one side, matrix columns on the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.arrays import Truth, truth_from_rows


@dataclass(frozen=True, slots=True)
class LabelIndex:
    """The labels of one model, numbered by their names in code-point order."""

    names: tuple[str, ...]
    columns: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", {name: i for i, name in enumerate(self.names)})

    @classmethod
    def of(cls, label_sets: Iterable[Iterable[str]]) -> "LabelIndex":
        """All labels that occur.

        >>> LabelIndex.of([["wheat", "corn"], ["corn"]]).names
        ('corn', 'wheat')
        """
        return cls(tuple(sorted({label for labels in label_sets for label in labels})))

    def __len__(self) -> int:
        return len(self.names)

    def truth(self, label_sets: Iterable[Iterable[str]]) -> Truth:
        """Label sets as a matrix; labels that are not in the index are left out."""
        columns = self.columns
        rows = ([columns[label] for label in own if label in columns] for own in label_sets)
        return truth_from_rows(rows, len(self.names))
