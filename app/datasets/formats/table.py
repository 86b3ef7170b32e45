"""Rows of a table → documents, by the columns that the options name."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.order_values import ACCEPTED, OrderValue, order_value

YES = {"1", "1.0", "true", "yes"}
NO = {"", "0", "0.0", "false", "no"}
MARKS = "0, 1, true, false, yes, no or nothing"


class Columns(NamedTuple):
    """Where the parts of a document stand in a row."""

    texts: tuple[int, ...]
    labels: int | None
    marks: tuple[int, ...]
    id: int | None
    order: int | None


class Table:
    """Turns rows into documents."""

    def __init__(self, header: Sequence[str], options: ReadOptions, faults: Faults) -> None:
        self.header, self.options, self._faults = header, options, faults
        self.columns = self._columns()
        self._label_sets = LabelSets(options.label_map)

    def document(self, row: Sequence[Any], line: int) -> Record | None:
        """The document of one row; None after a fault."""
        try:
            labels = self._label_sets(self._names(row))
        except BadLabelError as bad:
            column = bad.position if self.columns.labels is None else self.columns.labels
            self._faults.refuse(bad, line=line, column=column + 1)
            return None
        texts = [row[column] or "" for column in self.columns.texts]
        cell = None if self.columns.id is None else row[self.columns.id]
        id_ = None if cell in (None, "") else str(cell)
        if self.columns.order is None:
            return Record("\n".join(texts), labels, id_, line)
        order = self._order(row[self.columns.order], line, self.columns.order)
        if order is None:
            return None
        return Record("\n".join(texts), labels, id_, line, order=order)

    def _names(self, row: Sequence[Any]) -> Sequence[str]:
        if self.columns.marks:
            return [self.header[column] for column in self.columns.marks if _is_marked(row, column)]
        cell = None if self.columns.labels is None else row[self.columns.labels]
        if isinstance(cell, str):
            return cell.split(self.options.label_separator)
        return [name or "" for name in cell or ()]

    def _order(self, cell: Any, line: int, column: int) -> OrderValue | None:
        """The cell of the order column; None after a fault."""
        order = order_value(cell)
        if order is None:
            problem = f'no value in the column "{self.options.order_column}"'
            self._faults.add(problem, line=line, column=column + 1, accepted=ACCEPTED)
        return order

    def _columns(self) -> Columns:
        options = self.options
        texts = tuple(self._place(name, "text-columns") for name in options.text_columns)
        marks = tuple(self._place(name, "label-columns") for name in options.label_columns)
        labels = id_ = order = None
        if not marks and (options.labels == "required" or options.label_column in self.header):
            labels = self._place(options.label_column, "label-column")
        if options.id_column in self.header:
            id_ = self._place(options.id_column, "id-column")
        if options.order_column:
            order = self._place(options.order_column, "folds-by")
        return Columns(texts, labels, marks, id_, order)

    def _place(self, name: str, option: str) -> int:
        """Where a column stands; a name that is missing or not unique is refused."""
        if self.header.count(name) == 1:
            return self.header.index(name)
        problem = f'{"two columns" if name in self.header else "no column"} "{name}"'
        accepted = f"a header with that column once; the option {option} names another"
        raise self._faults.fatal(problem, line=1, found=" ".join(self.header), accepted=accepted)


def _is_marked(row: Sequence[Any], column: int) -> bool:
    cell = "" if row[column] is None else str(row[column]).strip().lower()
    if cell in YES:
        return True
    if cell in NO:
        return False
    raise BadLabelError("neither 0 nor 1 in a label column", cell, column, MARKS)
