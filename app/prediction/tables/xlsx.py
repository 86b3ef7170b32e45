"""Excel workbooks of one sheet, written row by row. No cell in it is a formula."""

import re
from datetime import date, datetime, time
from typing import Any, BinaryIO

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from app.errors import InvalidRequestError
from app.prediction.tables.added_cells import added_columns
from app.prediction.tables.base import TableForm, TableRow, text_of, value_of

MOST_ROWS, LONGEST_CELL = 1_048_576, 32_767
LARGEST_WHOLE = 2**53
"""Beyond it Excel rounds whole numbers, so they are written as text."""
FIRST_YEAR = 1900
NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


class XlsxFile:
    """A sheet; text is written as text whatever it begins with, numbers and dates as such."""

    joins_labels = True

    def __init__(self, file: BinaryIO, form: TableForm) -> None:
        self._file, self._form = file, form
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("predictions")
        self._rows = self._n_cut = 0
        columns = form.layout.columns
        self._append([*columns, *added_columns(columns)])

    def add(self, row: TableRow) -> None:
        """Write one row; more than a sheet can hold are refused."""
        if self._rows == MOST_ROWS:
            raise InvalidRequestError(
                f"more than {MOST_ROWS - 1:,} rows do not fit an Excel sheet; "
                "accepted: an output file .csv or .parquet"
            )
        self._append([*self._form.aligned(row), *row.added.texts(self._form.separator)])

    def close(self) -> list[str]:
        """Write the workbook around the sheet."""
        self._book.save(self._file)
        if not self._n_cut:
            return []
        return [
            f"{self._n_cut:,} cells were cut after {LONGEST_CELL:,} characters, which is all that "
            "an Excel cell holds; .csv and .parquet keep them whole"
        ]

    def abandon(self) -> None:
        """Close the sheet's own temporary file."""
        self._sheet.close()

    def _append(self, cells: list[Any]) -> None:
        self._sheet.append([self._cell(value_of(cell)) for cell in cells])
        self._rows += 1

    def _cell(self, value: Any) -> Any:
        if value is None or value == "" or _is_plain(value):
            return value
        text = NOT_IN_XML.sub(_escaped, text_of(value))
        if len(text) > LONGEST_CELL:
            text, self._n_cut = text[:LONGEST_CELL], self._n_cut + 1
        cell = WriteOnlyCell(self._sheet, text)
        cell.data_type = "s"  # also after "=", which makes a formula of it otherwise
        return cell


def _is_plain(value: Any) -> bool:
    """Whether Excel has this kind of value."""
    if isinstance(value, datetime | time) and value.tzinfo is not None:
        return False
    if isinstance(value, date):
        return value.year > FIRST_YEAR
    if isinstance(value, int | float):
        return abs(value) <= LARGEST_WHOLE
    return isinstance(value, time)


def _escaped(character: re.Match[str]) -> str:
    """A character that XML cannot hold, as Office Open XML writes it."""
    return f"_x{ord(character[0]):04X}_"
