"""JSON lines: the data's own fields as they stand, then the added ones."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

from app.errors import InvalidRequestError
from app.prediction.tables.added_cells import added_columns
from app.prediction.tables.base import TableForm, TableRow, text_of


class JsonlFile:
    """An object a line; labels, probabilities and reasons are lists, null without an answer."""

    joins_labels = False

    def __init__(self, file: BinaryIO, form: TableForm) -> None:
        columns = form.layout.columns
        if len(set(columns)) < len(columns):
            raise InvalidRequestError(
                "two columns of the data have the same name, which JSON lines cannot have; "
                "accepted: another output format, such as .csv"
            )
        self._file, self._form = file, form
        self._encode = msgspec.json.Encoder(enc_hook=text_of).encode

    def add(self, row: TableRow) -> None:
        """Write one line."""
        own = self._own(row)
        added = row.added
        values = (added.labels, added.probabilities, added.reasons, added.review)
        own.update(zip(added_columns(own), values, strict=True))
        self._file.write(self._encode(own) + b"\n")

    def close(self) -> list[str]:
        """Everything is written."""
        return []

    def abandon(self) -> None:
        """Nothing is open but the file."""

    def _own(self, row: TableRow) -> dict[str, Any]:
        if isinstance(row.cells, Mapping):
            return dict(row.cells)
        if not row.cells:  # a line that could not be read
            return {}
        return dict(zip(self._form.layout.columns, self._form.aligned(row), strict=True))
