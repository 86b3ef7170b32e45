"""Tables as spreadsheets export them: a header, then a document a row."""

from collections.abc import Iterator

from app.datasets.base import Document, ReadOptions
from app.datasets.csv_rows import delimiter_of, rows
from app.datasets.encoding import head_text
from app.datasets.faults import Faults
from app.datasets.source import Source
from app.datasets.table import Table


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Document]:
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
