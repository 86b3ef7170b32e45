"""A file of the data with its predictions, which appears whole or not at all."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from app.artifacts.folders import whole_file
from app.catalogue import find
from app.datasets.layout import TableLayout
from app.datasets.reading import Reading
from app.prediction.tables import WRITERS
from app.prediction.tables.base import TableForm, TableRow, TableWriter
from app.progress import Progress, silent

LOOKED_AT = 1000
"""Documents whose keys become columns, where each has keys of its own."""
STEP = 256


class WrittenTable(NamedTuple):
    """How many rows were written, and sentences about what the format could not hold."""

    rows: int
    notes: list[str]


def table_writer(path: Path) -> type[TableWriter]:
    """What writes files of this suffix; an error that names the others."""
    found: type[TableWriter] = find(WRITERS, path.suffix.lower(), "output format")
    return found


def write_table(
    path: Path,
    reading: Reading,
    rows: Iterator[TableRow],
    *,
    separator: str,
    progress: Progress = silent,
) -> WrittenTable:
    """Write all rows; memory does not grow with them."""
    writer, count = table_writer(path), 0
    first = list(islice(rows, LOOKED_AT))  # the reader knows its columns only now
    form = TableForm(_layout(reading.source.layout, first), separator, len(first))
    with whole_file(path) as file:
        table = writer(file, form)
        try:
            for count, row in enumerate(chain(first, rows), 1):
                table.add(row)
                if count % STEP == 0:
                    progress("predict", count, 0)
        except BaseException:
            with suppress(Exception):  # the first error is the one to tell
                table.abandon()
            raise
        notes = table.close()
    progress("predict", count, count)
    return WrittenTable(count, notes)


def _layout(layout: TableLayout, first: list[TableRow]) -> TableLayout:
    """The layout, with the keys of the first documents where these have no common columns."""
    if layout.columns:
        return layout
    keys = [key for row in first if isinstance(row.cells, Mapping) for key in row.cells]
    return TableLayout(
        tuple(dict.fromkeys(keys)),
        delimiter=layout.delimiter,
        line_end=layout.line_end,
        has_mark=layout.has_mark,
    )
