"""Sheets of an Excel workbook: a header, then a document a row. The only importer of openpyxl."""

import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZipFile

import openpyxl

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.column_hints import names_hint
from app.datasets.formats.table import NumberedRow, Table
from app.datasets.input.source import Source
from app.datasets.input.spool import IN_MEMORY, fill
from app.datasets.layout import TableLayout
from app.errors import PayloadTooLargeError

LARGEST_PART, LARGEST_STRINGS = 1 << 30, 256 << 20
"""Bytes of XML, unpacked: of a sheet, which is streamed; of all strings, which are kept."""
STRINGS = "xl/sharedStrings.xml"
BATCH = 1000
ACCEPTED = ".xlsx, or the sheet saved as CSV UTF-8"


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a row of the first sheet, or of the one named; a row's line is its number.

    Formulas count as the value that Excel last saw, and cells as text.
    """
    with SpooledTemporaryFile(IN_MEMORY) as spool:
        fill(spool, source, faults)
        numbered = _filled(_rows(spool, options.sheet, faults))
        header = next(numbered, None)
        if header is not None:
            source.layout = TableLayout(tuple(map(_written, header[1])))
            table = Table([name.strip() for name in source.layout.columns], options, faults)
            padded = _padded(numbered, len(table.header))
            yield from table.documents(_as_text(padded, table))


def _rows(spool: IO[bytes], sheet: str, faults: Faults) -> Iterator[NumberedRow]:
    """Each row with its number, blank ones too."""
    cells, line = _sheet(spool, sheet, faults), 0
    while batch := _batch(cells, line, faults):
        yield from enumerate(batch, line + 1)
        line += len(batch)


def _sheet(spool: IO[bytes], name: str, faults: Faults) -> Iterator[Sequence[Any]]:
    """The rows of a sheet, as openpyxl gives them."""
    try:
        _check_size(spool)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which no text depends on
            book = openpyxl.load_workbook(spool, read_only=True, data_only=True, keep_links=False)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        sheet = sheets.get(name) if name else next(iter(sheets.values()), None)
        if sheet is not None:
            sheet.reset_dimensions()  # what the file claims may be wrong, or a million columns
            rows: Iterator[Sequence[Any]] = sheet.iter_rows(values_only=True)
            return rows
    except PayloadTooLargeError:
        raise
    except Exception as error:  # whatever openpyxl's parsing trips over
        raise faults.fatal("no readable Excel workbook", line=1, accepted=ACCEPTED) from error
    hint = names_hint(list(sheets))
    raise faults.fatal("no such sheet", line=1, accepted="the option sheet", hint=hint)


def _check_size(spool: IO[bytes]) -> None:
    """Refuse what would unpack to too much; zipfile gives no more of a part than it declares."""
    with ZipFile(spool) as archive:
        for part in archive.infolist():
            limit = LARGEST_STRINGS if part.filename == STRINGS else LARGEST_PART
            if part.file_size > limit:
                raise PayloadTooLargeError("a part of the workbook", limit, "bytes")
    spool.seek(0)


def _batch(cells: Iterator[Sequence[Any]], line: int, faults: Faults) -> list[Sequence[Any]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(islice(cells, BATCH))
    except Exception as error:
        problem = "damaged Excel data, in this row or soon after"
        raise faults.fatal(problem, line=line + 1, accepted=ACCEPTED) from error


def _filled(numbered: Iterator[NumberedRow]) -> Iterator[NumberedRow]:
    """The rows without those that are blank, and without blank cells at the end."""
    for line, row in numbered:
        width = len(row)
        while width and row[width - 1] in (None, ""):
            width -= 1
        if width:
            yield line, row[:width]


def _padded(numbered: Iterator[NumberedRow], width: int) -> Iterator[NumberedRow]:
    """The rows with blank cells up to the width of the header."""
    return ((line, [*row, *[""] * (width - len(row))]) for line, row in numbered)


def _as_text(numbered: Iterator[NumberedRow], table: Table) -> Iterator[NumberedRow]:
    """The rows with the cells as text; where all are kept, only those that the documents are of."""
    columns = table.columns
    needed = {*columns.texts, *columns.marks, columns.labels, columns.id, columns.order}
    keeps = table.options.keeps_cells
    for line, row in numbered:
        yield (
            line,
            [
                cell if keeps and place not in needed else _written(cell)
                for place, cell in enumerate(row)
            ],
        )


def _written(cell: Any) -> str:
    """A cell as text: dates in ISO form, whole numbers without a point."""
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, datetime) and not (cell.hour or cell.minute or cell.second):
        return cell.date().isoformat()
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
