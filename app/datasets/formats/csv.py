"""Tables as spreadsheets export them: a header, then a document a row."""

from collections.abc import Iterator

import msgspec

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.formats.table import Table
from app.datasets.input.encoding import encoding_of, text_of
from app.datasets.input.source import Source
from app.datasets.layout import TableLayout


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a row; `,` `;` and TAB are told apart by the header."""
    source.layout = layout_of(source.head)
    table = CsvTable(source.layout, options, faults)
    keeps_cells = options.keeps_cells
    return table.documents(rows(source, faults, source.layout.delimiter, keeps_cells=keeps_cells))


def layout_of(head: bytes) -> TableLayout:
    """The form of a CSV text, by its first line; the columns are not known yet."""
    encoding, mark = encoding_of(head)
    line, line_feed, _ = text_of(head).lstrip("\r\n").partition("\n")
    return TableLayout(
        delimiter=delimiter_of(line.rstrip("\r")),
        line_end="\r\n" if line_feed and line.endswith("\r") else "\n",
        has_mark=bool(mark) or encoding != "utf-8",
    )


class CsvTable:
    """Turns rows into documents; the first row is the header, wherever the others come from.

    Rows may come in several parts where labels are ignored, so that nothing is told by the first.
    """

    def __init__(self, layout: TableLayout, options: ReadOptions, faults: Faults) -> None:
        self._layout, self._options, self._faults = layout, options, faults
        self._table: Table | None = None

    def documents(self, found: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
        """The documents of rows that come with their lines."""
        if self._table is None:
            header = next(found, None)
            if header is None:
                return
            self._layout.columns = tuple(header[1])
            names = [name.strip().replace("\r\n", "\n") for name in header[1]]
            self._table = Table(names, self._options, self._faults)
        yield from map(_with_line_feeds, self._table.documents(found))


def _with_line_feeds(document: Record) -> Record:
    """The document with the text that it has where its cells are not kept."""
    if "\r\n" not in document.text:
        return document
    return msgspec.structs.replace(document, text=document.text.replace("\r\n", "\n"))
