"""What a writer of tables offers, and the rows it takes."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, BinaryIO, ClassVar, NamedTuple, Protocol

import msgspec

from app.datasets.layout import Cells, TableLayout
from app.errors import InvalidDataError
from app.prediction.tables.added_cells import AddedCells

LATE_KEY = "a key that the first {} documents do not have"


class TableRow(NamedTuple):
    """A row of the data as it was read, and what is added to it."""

    cells: Cells
    added: AddedCells
    line: int = 0


class TableForm(NamedTuple):
    """How a table is written: the data's own layout, and what joins labels in one cell."""

    layout: TableLayout
    separator: str
    looked_at: int = 0
    """Of data whose documents have keys of their own: how many the columns were taken from."""

    def aligned(self, row: TableRow) -> Sequence[Any]:
        """The row's own cells below the columns; what is missing is None.

        A row that could not be read may have too few or too many cells; its `review` says so.
        """
        columns = self.layout.columns
        if not isinstance(row.cells, Mapping):
            return [*row.cells[: len(columns)], *[None] * (len(columns) - len(row.cells))]
        if unknown := row.cells.keys() - set(columns):
            raise InvalidDataError(
                LATE_KEY.format(self.looked_at),
                line=row.line,
                found=min(unknown),
                accepted="an output file .jsonl, whose documents may differ in their keys",
            )
        return [row.cells.get(column) for column in columns]


class TableWriter(Protocol):
    """What one file of this folder offers for its format."""

    joins_labels: ClassVar[bool]
    """Whether the labels of a document stand in one cell with separators between them."""

    def __init__(self, file: BinaryIO, form: TableForm) -> None:
        """Begin a table."""
        ...

    def add(self, row: TableRow) -> None:
        """Write one row, now or with others."""
        ...

    def close(self) -> list[str]:
        """Write what is left; sentences about what the format could not hold."""
        ...

    def abandon(self) -> None:
        """Let go of what is open: the table is not wanted any more."""
        ...


def value_of(cell: Any) -> Any:
    """The value of a cell of any format; JSON that was kept as it stands is read."""
    if not isinstance(cell, msgspec.Raw):
        return cell
    try:
        return msgspec.json.decode(cell)
    except msgspec.DecodeError:  # half a surrogate pair, in a field that nobody reads
        return bytes(cell).decode(errors="replace")


def text_of(cell: Any) -> str:
    """A cell as text: nothing for null, JSON for lists and objects, ISO 8601 for times.

    >>> [text_of(cell) for cell in (None, True, 1.5, ["a"], date(2026, 1, 31))]
    ['', 'true', '1.5', '["a"]', '2026-01-31']
    """
    value = value_of(cell)
    if value is None:
        return ""
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time():
        return value.date().isoformat()  # a day, as workbooks have it
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool | list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=text_of)
    return str(value)
