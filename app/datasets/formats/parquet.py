"""Parquet tables, read batch by batch. The only importer of pyarrow."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec
import pyarrow
from pyarrow.parquet import ParquetFile

from app.datasets.base import ReadOptions, Record
from app.datasets.cells.label_names import class_labels
from app.datasets.faults import Faults
from app.datasets.formats.table import Table
from app.datasets.input.source import Source
from app.datasets.input.spool import IN_MEMORY, fill
from app.datasets.layout import TableLayout
from app.errors import InvalidDataError

ROWS = 1024
HUGGING_FACE = b"huggingface"
BROKEN = (pyarrow.ArrowException, OSError, ValueError)
UNREADABLE = (pyarrow.ArrowException, ValueError, OverflowError)  # bad UTF-8, dates beyond range


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a row; a row's line is its number from 1.

    The label column is a list of strings, or a string with separators. The format is read from
    its end, so the bytes go to a temporary file first.
    """
    with SpooledTemporaryFile(IN_MEMORY) as spool:
        fill(spool, source, faults)
        try:
            file = ParquetFile(spool)
            names = _wanted(file.schema_arrow.names, options)
        except BROKEN as error:
            raise faults.fatal("no readable Parquet data", line=1) from error
        schema = file.schema_arrow
        source.layout = TableLayout(tuple(schema.names), tuple(schema.types))
        if not options.label_names:
            options = replace(options, label_names=_class_labels(schema, options.label_column))
        table = Table(names, options, faults)
        _check_types(schema, table, faults)
        yield from table.documents(_rows(file, names, faults))


def _wanted(names: list[str], options: ReadOptions) -> list[str]:
    """The columns to read: a table may have hundreds of others.

    All of them if a text or label column is missing, since the error then lists what there is.
    """
    labels = options.label_columns or (options.label_column,)
    needed = {*options.text_columns, *(labels if options.labels == "required" else ())}
    if options.keeps_cells or not needed <= set(names):
        return names
    wanted = {*needed, *labels, options.id_column, options.order_column}
    return [name for name in names if name in wanted]


def _class_labels(schema: Any, label_column: str) -> tuple[str, ...]:
    """The label names that Hugging Face's data sets keep beside the columns, if any."""
    try:
        content = msgspec.json.decode((schema.metadata or {})[HUGGING_FACE])
    except (KeyError, msgspec.DecodeError, RecursionError):
        return ()
    names = class_labels(content, label_column)
    return tuple(names) if all(isinstance(name, str) for name in names) else ()


def _check_types(schema: Any, table: Table, faults: Faults) -> None:
    for name in table.options.text_columns:
        if not _is_text(schema.field(name).type):
            raise _wrong_type(schema, name, "a column of strings", faults)
    if table.columns.labels is not None:
        name = table.options.label_column
        kind = schema.field(name).type
        kind = kind.value_type if _is_list(kind) else kind
        if not _is_text(kind) and not (table.options.label_names and _is_number(kind)):
            accepted = "a column of strings or of lists of strings; of ids, with --label-names"
            raise _wrong_type(schema, name, accepted, faults)


def _is_list(kind: Any) -> bool:
    types = pyarrow.types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _is_number(kind: Any) -> bool:
    types = pyarrow.types
    return any(test(kind) for test in (types.is_integer, types.is_boolean, types.is_floating))


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
