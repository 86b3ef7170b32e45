"""Parquet tables, read batch by batch. The only importer of pyarrow."""

from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import pyarrow
from pyarrow.parquet import ParquetFile

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.table import Table
from app.datasets.input.source import Source
from app.errors import InvalidDataError

ROWS = 1024
IN_MEMORY = 16 << 20
BROKEN = (pyarrow.ArrowException, OSError, ValueError)
UNREADABLE = (pyarrow.ArrowException, ValueError, OverflowError)  # bad UTF-8, dates beyond range


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a row; a row's line is its number from 1.

    The label column is a list of strings, or a string with separators. The format is read from
    its end, so the bytes go to a temporary file first.
    """
    with SpooledTemporaryFile(IN_MEMORY) as spool:
        _fill(spool, source, faults)
        try:
            file = ParquetFile(spool)
            names = [name for name in file.schema_arrow.names if name in _wanted(options)]
        except BROKEN as error:
            raise faults.fatal("no readable Parquet data", line=1) from error
        table = Table(names, options, faults)
        _check_types(file.schema_arrow, table, faults)
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


def _wanted(options: ReadOptions) -> set[str]:
    """The columns to read: a table may have hundreds of others."""
    labels = options.label_columns or (options.label_column,)
    return {*options.text_columns, *labels, options.id_column, options.order_column}


def _check_types(schema: Any, table: Table, faults: Faults) -> None:
    for name in table.options.text_columns:
        if not _is_text(schema.field(name).type):
            raise _wrong_type(schema, name, "a column of strings", faults)
    if table.columns.labels is not None:
        name = table.options.label_column
        kind = schema.field(name).type
        is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
        if not _is_text(kind.value_type if is_list else kind):
            raise _wrong_type(schema, name, "a column of strings or of lists of strings", faults)


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
    return kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())


def _wrong_type(schema: Any, name: str, accepted: str, faults: Faults) -> InvalidDataError:
    column = schema.names.index(name) + 1
    problem = f'the column "{name}" holds no text'
    return faults.fatal(problem, line=1, column=column, accepted=accepted)


def _rows(file: Any, names: list[str], faults: Faults) -> Iterator[tuple[int, Sequence[Any]]]:
    """Each row with its number; a row with text that is not UTF-8 goes to `faults`."""
    line = 1
    batches = file.iter_batches(ROWS, columns=names)
    while True:
        try:
            batch = next(batches, None)
        except BROKEN as error:
            raise faults.fatal("damaged Parquet data", line=line) from error
        if batch is None:
            return
        yield from _cells(batch, line, faults)
        line += batch.num_rows


def _cells(batch: Any, first: int, faults: Faults) -> Iterator[tuple[int, Sequence[Any]]]:
    columns = batch.columns
    try:
        rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
        yield from enumerate(rows, first)
    except UNREADABLE:
        for place in range(batch.num_rows):
            try:
                row = [column[place].as_py() for column in columns]
            except UNREADABLE:
                faults.add("an unreadable value", line=first + place, accepted="UTF-8 text")
                continue
            yield first + place, row
