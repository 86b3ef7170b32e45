"""Rows of a table → documents, by the columns that the options name."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from app.datasets.base import ReadOptions, Record
from app.datasets.cells.label_cells import AUTO, LabelCells
from app.datasets.cells.label_separator import DEFAULT, peeked, separator_of
from app.datasets.cells.separator_doubts import separator_doubts
from app.datasets.faults import Faults
from app.datasets.formats.column_hints import label_hint, names_hint, text_hint
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.order_values import ACCEPTED, OrderValue, order_value

YES = {"1", "1.0", "true", "yes"}
NO = {"", "0", "0.0", "false", "no"}
MARKS = "0, 1, true, false, yes, no or nothing"
FORMULAS = ("'=", "'+", "'-", "'@")
"""How a cell begins that an apostrophe keeps from being a formula in a spreadsheet."""
ALL_OTHERS = ("*",)
SHORT, REMEMBERED = 200, 1 << 16
NumberedRow = tuple[int, Sequence[Any]]


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
        self._names_in = LabelCells(options.label_separator, options.label_names)
        self._known: dict[str, tuple[str, ...]] = {}

    def documents(self, rows: Iterator[NumberedRow]) -> Iterator[Record]:
        """The documents of all rows, each with its line; bad ones go to the faults."""
        for line, row in self._with_separator(self._whole_rows(rows)):
            if document := self.document(row, line):
                yield document

    def document(self, row: Sequence[Any], line: int) -> Record | None:
        """The document of one row; None after a fault."""
        try:
            labels = self._labels(row)
        except BadLabelError as bad:
            column = bad.position if self.columns.labels is None else self.columns.labels
            self._faults.refuse(bad, line=line, column=column + 1, cells=row)
            return None
        texts = [row[column] or "" for column in self.columns.texts]
        cell = None if self.columns.id is None else row[self.columns.id]
        id_ = None if cell in (None, "") else str(cell)
        order, cells = None, row if self.options.keeps_cells else None
        if self.columns.order is not None:
            order = self._order(row[self.columns.order], line, self.columns.order)
            if order is None:
                return None
        return Record("\n".join(texts), labels, id_, line, order=order, cells=cells)

    def _with_separator(self, rows: Iterator[NumberedRow]) -> Iterable[NumberedRow]:
        """The same rows, once it is known how their label cells are split."""
        options, column = self.options, self.columns.labels
        if column is None:
            return rows
        separator = options.label_separator
        if separator == AUTO:
            cells, rows = peeked(rows, lambda row: row[1][column], _characters)
            separator = separator_of(cells, options.known_labels, options.label_map)
            self._names_in = LabelCells(separator or DEFAULT, options.label_names)
            self._faults.warnings = [*separator_doubts(cells, separator)]
        self._faults.label_separator = separator
        return rows

    def _labels(self, row: Sequence[Any]) -> tuple[str, ...]:
        """The labels of a row; those of a short cell are remembered, since most cells recur."""
        if self.columns.labels is None:
            marked = [column for column in self.columns.marks if _is_marked(row, column)]
            return self._label_sets([self.header[column] for column in marked])
        cell = row[self.columns.labels]
        labels = self._known.get(cell) if isinstance(cell, str) else None
        if labels is None:
            is_protected = isinstance(cell, str) and cell.startswith(FORMULAS)
            labels = self._label_sets(self._names_in(cell[1:] if is_protected else cell))
            if isinstance(cell, str) and len(cell) <= SHORT and len(self._known) < REMEMBERED:
                self._known[cell] = labels
        return labels

    def _whole_rows(self, rows: Iterator[NumberedRow]) -> Iterator[NumberedRow]:
        """The rows that are as wide as the header."""
        width = len(self.header)
        for line, row in rows:
            if len(row) == width:
                yield line, row
                continue
            problem, accepted = f"{len(row)} fields in a row", f"{width}, as in the header"
            column = min(len(row), width) + 1
            self._faults.add(problem, line=line, column=column, accepted=accepted, cells=row)

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
        labels = id_ = order = None
        if options.id_column in self.header:
            id_ = self._place(options.id_column, "id-column")
        if options.order_column:
            order = self._place(options.order_column, "folds-by")
        marks = self._marks({*texts, id_, order})
        is_there = options.labels == "optional" and options.label_column in self.header
        if not marks and (options.labels == "required" or is_there):
            labels = self._place(options.label_column, "label-column")
        return Columns(texts, labels, marks, id_, order)

    def _marks(self, others: set[int | None]) -> tuple[int, ...]:
        """The columns of marks; of all others those without a name (an index) are none."""
        names: Sequence[str] = self.options.label_columns
        if tuple(names) == ALL_OTHERS:
            rest = (name for place, name in enumerate(self.header) if place not in others)
            names = [name for name in rest if name]
        return tuple(self._place(name, "label-columns") for name in names)

    def _place(self, name: str, option: str) -> int:
        """Where a column stands; a name that is missing or not unique is refused."""
        if self.header.count(name) == 1:
            return self.header.index(name)
        problem = f'{"two columns" if name in self.header else "no column"} "{name}"'
        accepted = f"a header with that column once; the option {option} names another"
        hint = self._hint(option)
        raise self._faults.fatal(problem, line=1, accepted=accepted, hint=hint)

    def _hint(self, option: str) -> str:
        if option == "text-columns":
            return text_hint(self.header, self.options.text_columns)
        return (label_hint if option == "label-column" else names_hint)(self.header)


def _characters(row: NumberedRow) -> int:
    return sum(len(cell) for cell in row[1] if isinstance(cell, str))


def _is_marked(row: Sequence[Any], column: int) -> bool:
    cell = "" if row[column] is None else str(row[column]).strip().lower()
    if cell in YES:
        return True
    if cell in NO:
        return False
    raise BadLabelError("neither 0 nor 1 in a label column", cell, column, MARKS)
