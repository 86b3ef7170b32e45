"""CSV in the form that the data came in: the file of `predict --output`, the answer of /predict."""

import csv
from typing import Any, BinaryIO

from app.prediction.tables.added_cells import added_columns, without_formula
from app.prediction.tables.base import TableForm, TableRow, text_of

MARK = "\ufeff".encode()
LINE_END = "\r\n"


class CsvRows:
    """Rows as bytes in UTF-8, with the data's own delimiter, line ends and byte order mark."""

    def __init__(self, form: TableForm) -> None:
        self._form, self._rows = form, _Rows()
        # Written with both characters of a line end, so that cells with one of them are quoted.
        self._writer = csv.writer(
            self._rows, delimiter=form.layout.delimiter, lineterminator=LINE_END
        )

    def header(self) -> bytes:
        """The names of the columns: the data's own, then the added ones."""
        columns = self._form.layout.columns
        mark = MARK if self._form.layout.has_mark else b""
        return mark + self._encoded([*columns, *added_columns(columns)])

    def row(self, row: TableRow) -> bytes:
        """One row. Own cells stay as they are; of the added ones none is a formula."""
        added = map(without_formula, row.added.texts(self._form.separator))
        return self._encoded([*map(text_of, self._form.aligned(row)), *added])

    def _encoded(self, cells: list[str]) -> bytes:
        self._writer.writerow(cells)
        line = self._rows.last.removesuffix(LINE_END)
        return (line + self._form.layout.line_end).encode(errors="backslashreplace")


class CsvFile:
    """A file of such rows."""

    joins_labels = True

    def __init__(self, file: BinaryIO, form: TableForm) -> None:
        self._file, self._rows = file, CsvRows(form)
        file.write(self._rows.header())

    def add(self, row: TableRow) -> None:
        """Write one row."""
        self._file.write(self._rows.row(row))

    def close(self) -> list[str]:
        """Everything is written."""
        return []

    def abandon(self) -> None:
        """Nothing is open but the file."""


class _Rows:
    """Takes what the csv module writes."""

    last = ""

    def write(self, row: Any) -> None:
        self.last = row
