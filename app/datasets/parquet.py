"""Parquet tables, read batch by batch. The only importer of pyarrow."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import pyarrow
from pyarrow.parquet import ParquetFile

from app.datasets.base import Document, ReadOptions
from app.datasets.faults import Faults
from app.datasets.source import Source
from app.datasets.table import Table
from app.errors import InvalidDataError

ROWS = 1024
IN_MEMORY = 16 << 20
BROKEN = (pyarrow.ArrowException, OSError, ValueError)


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Document]:
    """A document a row; a row's line is its number from 1.

    The label column is a list of strings, or a string with separators. The format is read from
    its end, so the bytes go to a temporary file first.
    """
    with SpooledTemporaryFile(IN_MEMORY) as spool:
        _fill(spool, source, faults)
        try:
            file = ParquetFile(spool)
            names = file.schema_arrow.names
        except BROKEN as error:
            raise faults.fatal("no readable Parquet data", line=1) from error
        table = Table(names, options, faults)
        _check_texts(file.schema_arrow, table, faults)
        for line, row in _rows(file, names, faults):
            if document := table.document(row, line):
                yield document


def _fill(spool: IO[bytes], source: Source, faults: Faults) -> None:
    try:
        for piece in source.chunks():
            spool.write(piece)
    except InvalidDataError as error:
        raise faults.fatal(error.problem, line=1) from error
    spool.seek(0)


def _check_texts(schema: Any, table: Table, faults: Faults) -> None:
    for column in table.columns.texts:
        kind = schema.field(column).type
        kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if kind not in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
            problem = f'the column "{table.header[column]}" holds no text'
            raise faults.fatal(problem, line=1, column=column + 1, accepted="a column of strings")


def _rows(file: Any, names: list[str], faults: Faults) -> Iterator[tuple[int, list[Any]]]:
    """Each row with its number; a row with text that is not UTF-8 goes to `faults`."""
    line = 0
    batches = file.iter_batches(ROWS)
    while True:
        try:
            batch = next(batches, None)
        except BROKEN as error:
            raise faults.fatal("damaged Parquet data", line=line + 1) from error
        if batch is None:
            return
        for place in range(batch.num_rows):
            line += 1
            try:
                yield line, [column[place].as_py() for column in batch.columns]
            except UnicodeDecodeError:
                faults.add("not UTF-8", line=line, accepted="UTF-8 text")
