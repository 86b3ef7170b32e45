"""Parquet: the data's own columns in their types, then lists of labels and probabilities."""

from typing import Any, BinaryIO

import pyarrow
import pyarrow.parquet

from app.prediction.tables.added_cells import added_columns
from app.prediction.tables.base import TableForm, TableRow, text_of

ROWS = 1024
TEXTS, NUMBERS = pyarrow.list_(pyarrow.string()), pyarrow.list_(pyarrow.float64())


class ParquetFile:
    """Row groups of some thousand rows; columns of a format without types hold strings."""

    joins_labels = False

    def __init__(self, file: BinaryIO, form: TableForm) -> None:
        columns = form.layout.columns
        types = form.layout.types or [pyarrow.string()] * len(columns)
        names = [*columns, *added_columns(columns)]
        kinds = [*types, TEXTS, NUMBERS, TEXTS, pyarrow.string()]
        self._schema = pyarrow.schema(list(zip(names, kinds, strict=True)))
        self._form, self._has_types = form, bool(form.layout.types)
        self._file = pyarrow.parquet.ParquetWriter(file, self._schema)
        self._rows: list[list[Any]] = []

    def add(self, row: TableRow) -> None:
        """Keep one row, and write all that are kept when there are enough."""
        own, added = self._form.aligned(row), row.added
        cells = own if self._has_types else [c if c is None else text_of(c) for c in own]
        values = (added.labels, added.probabilities, added.reasons, added.review)
        self._rows.append([*cells, *values])
        if len(self._rows) == ROWS:
            self._write()

    def close(self) -> list[str]:
        """Write what is left, and the footer."""
        self._write()
        self._file.close()
        return []

    def abandon(self) -> None:
        """Close the writer, which otherwise waits for the garbage collector."""
        self._file.close()

    def _write(self) -> None:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._schema)
        arrays = [
            pyarrow.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._file.write_batch(pyarrow.record_batch(arrays, schema=self._schema))
        self._rows.clear()
