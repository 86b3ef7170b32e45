"""Tables as spreadsheets export them: a header, then a document a row."""

from collections.abc import Iterator

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.formats.table import Table
from app.datasets.input.encoding import head_text
from app.datasets.input.source import Source


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a row; `,` `;` and TAB are told apart by the header."""
    delimiter = delimiter_of(head_text(source).lstrip("\r\n").partition("\n")[0].rstrip("\r"))
    table: Table | None = None
    for line, row in rows(source, faults, delimiter):
        if table is None:
            table = Table([name.strip() for name in row], options, faults)
        elif len(row) != len(table.header):
            problem = f"{len(row)} fields in a row"
            accepted = f"{len(table.header)}, as in the header"
            faults.add(
                problem, line=line, column=min(len(row), len(table.header)) + 1, accepted=accepted
            )
        elif document := table.document(row, line):
            yield document
